//! Responses, translated for the editor that they go to.
//!
//! Results of 2026-07-28 have members that older versions do not know, and the error codes differ.
//! A response between two sides of the same kind keeps its members and codes.

use crate::catalog::ListKind;
use crate::protocol::envelope::{INVALID_PARAMS, Outcome, Request, Response};
use crate::protocol::json::Raw;
use crate::protocol::mcp::{meta, method};

use super::client_capabilities::ClientCapabilities;
use super::content::downgraded;
use crate::protocol::version::ProtocolVersion;

/// A resource does not exist; up to 2025-11-25.
const RESOURCE_NOT_FOUND: i64 = -32002;
/// The user must open a URL first; 2025-11-25 only.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;
/// A header does not match the body; from 2026-07-28.
pub const HEADER_MISMATCH: i32 = -32020;
/// The client lacks a capability that the server needs; from 2026-07-28.
pub const MISSING_CLIENT_CAPABILITY: i32 = -32021;
/// The server does not support the protocol version; from 2026-07-28.
pub const UNSUPPORTED_VERSION: i32 = -32022;
const INTERNAL_ERROR: i32 = -32603;

/// Members of results that older versions do not know.
const NEWER_MEMBERS: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// Translates a response to `called` from version `from` for an editor of version `to`. `server` is
/// the `serverInfo` to add for a newer editor.
pub fn translate(
    called: &str,
    response: Response,
    from: ProtocolVersion,
    to: ProtocolVersion,
    server: Option<&Raw>,
) -> Response {
    let response = match (from, to) {
        (ProtocolVersion::Session(_), ProtocolVersion::Stateless) => {
            return to_stateless(called, response, server);
        }
        (ProtocolVersion::Stateless, ProtocolVersion::Session(_)) => older(called, response),
        (ProtocolVersion::Session(_), ProtocolVersion::Session(_))
        | (ProtocolVersion::Stateless, ProtocolVersion::Stateless) => response,
    };
    match &response.outcome {
        Outcome::Result(result) => match downgraded(called, result, from, to) {
            Some(downgraded) => Response { outcome: Outcome::Result(downgraded), ..response },
            None => response,
        },
        Outcome::Error(_) => response,
    }
}

/// Translates a response of an older upstream, or of the gateway, for a newer editor.
pub fn to_stateless(called: &str, response: Response, server: Option<&Raw>) -> Response {
    let outcome = match response.outcome {
        Outcome::Result(result) => Outcome::Result(complete(called, &result, server)),
        Outcome::Error(error) => Outcome::Error(newer_error(error)),
    };
    Response { outcome, ..response }
}

fn complete(called: &str, result: &Raw, server: Option<&Raw>) -> Raw {
    let mut complete = match result.member("resultType") {
        Some(_) => result.clone(),
        None => result.with("resultType", &Raw::of("complete")),
    };
    if ListKind::from_method(called).is_some() || called == method::RESOURCES_READ {
        if complete.member("ttlMs").is_none() {
            complete = complete.with("ttlMs", &Raw::of(&0));
        }
        if complete.member("cacheScope").is_none() {
            complete = complete.with("cacheScope", &Raw::of("private"));
        }
    }
    if let Some(server) = server {
        let meta = complete.member("_meta").unwrap_or_else(|| Raw::of(&serde_json::json!({})));
        if meta.member(meta::SERVER).is_none() {
            complete = complete.with("_meta", &meta.with(meta::SERVER, server));
        }
    }
    complete
}

/// Replaces the two error codes that 2026-07-28 removed.
fn newer_error(error: Raw) -> Raw {
    match code(&error) {
        Some(RESOURCE_NOT_FOUND) => error.with("code", &Raw::of(&INVALID_PARAMS)),
        Some(URL_ELICITATION_REQUIRED) => {
            let needed =
                serde_json::json!({ "requiredCapabilities": { "elicitation": { "url": {} } } });
            error.with("code", &Raw::of(&MISSING_CLIENT_CAPABILITY)).with("data", &Raw::of(&needed))
        }
        Some(_) | None => error,
    }
}

/// Converts a failure into a missing-capability error, if the upstream had sent a request that the
/// editor does not support. An older upstream cannot know that beforehand.
pub fn missing_capability(request: &Request, response: Response) -> Response {
    let reason = match &response.outcome {
        Outcome::Error(error) => error.text_member("message"),
        Outcome::Result(result) => match result.member("isError") {
            Some(flag) if flag.as_str() == "true" => first_text(result),
            Some(_) | None => return response,
        },
    };
    let needed = ClientCapabilities::needed_for(request).capabilities();
    let what = format!("The server needs `{}`, which the client does not offer", request.method);
    let message = match reason {
        Some(reason) => format!("{what}: {reason}"),
        None => format!("{what}."),
    };
    let error =
        Raw::of(&serde_json::json!({ "code": MISSING_CLIENT_CAPABILITY, "message": message }));
    let data = Raw::of(&serde_json::json!({})).with("requiredCapabilities", &needed);
    Response { outcome: Outcome::Error(error.with("data", &data)), ..response }
}

fn first_text(result: &Raw) -> Option<String> {
    result.member("content")?.elements()?.iter().find_map(|block| block.text_member("text"))
}

/// Translates a response of a newer upstream for an older editor.
fn older(called: &str, response: Response) -> Response {
    let outcome = match response.outcome {
        Outcome::Result(result) => Outcome::Result(without_newer_members(&result)),
        Outcome::Error(error) => older_error(called, error),
    };
    Response { outcome, ..response }
}

/// The result without members that older versions do not know.
pub(super) fn without_newer_members(result: &Raw) -> Raw {
    let result = result.without(&NEWER_MEMBERS);
    let Some(meta) = result.member("_meta").filter(|meta| meta.member(meta::SERVER).is_some())
    else {
        return result;
    };
    match meta.without(&[meta::SERVER]) {
        rest if rest.as_str() == "{}" => result.without(&["_meta"]),
        rest => result.with("_meta", &rest),
    }
}

/// Errors about headers and versions concern the gateway's request, so an older editor gets a
/// general error. A missing capability is described in a text for the model.
fn older_error(called: &str, error: Raw) -> Outcome {
    let message = error.text_member("message").unwrap_or_default();
    let is = |wanted: i32| code(&error) == Some(i64::from(wanted));
    if is(MISSING_CLIENT_CAPABILITY) {
        let text = missing_capabilities(&error, &message);
        if called == method::TOOLS_CALL {
            let block = serde_json::json!({ "type": "text", "text": text });
            return Outcome::Result(Raw::of(
                &serde_json::json!({ "content": [block], "isError": true }),
            ));
        }
        return Outcome::Error(internal_error(&text));
    }
    if is(HEADER_MISMATCH) || is(UNSUPPORTED_VERSION) {
        let text = format!(
            "The server rejected Evermoor's request, so nothing was executed ({message}). Try again; if this continues, restart the server in Evermoor."
        );
        return Outcome::Error(internal_error(&text));
    }
    Outcome::Error(error)
}

fn missing_capabilities(error: &Raw, message: &str) -> String {
    let needed = error.member("data").and_then(|data| data.member("requiredCapabilities"));
    let needed = needed.and_then(|needed| needed.entries()).unwrap_or_default();
    let names: Vec<String> = needed.into_iter().map(|(name, _)| name).collect();
    let names = match names.is_empty() {
        true => String::new(),
        false => format!(" ({})", names.join(", ")),
    };
    format!(
        "Not executed: the server needs capabilities that this client does not offer{names}. The server says: {message}"
    )
}

fn internal_error(message: &str) -> Raw {
    Raw::of(&serde_json::json!({ "code": INTERNAL_ERROR, "message": message }))
}

/// The code of an error.
pub fn code(error: &Raw) -> Option<i64> {
    error.member("code").and_then(|code| code.read().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::envelope::Id;
    use crate::protocol::mcp::SessionVersion;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const OLD: ProtocolVersion = ProtocolVersion::Session(SessionVersion::LATEST);

    fn result(called: &str, result: &Value, from: ProtocolVersion, to: ProtocolVersion) -> String {
        let response = Response::result(Id::number(1), Raw::of(result));
        match translate(called, response, from, to, None).outcome {
            Outcome::Result(result) => result.as_str().to_owned(),
            Outcome::Error(error) => panic!("{error:?}"),
        }
    }

    fn error(called: &str, error: &Value, from: ProtocolVersion, to: ProtocolVersion) -> Outcome {
        let outcome = Outcome::Error(Raw::of(error));
        let response = Response { id: Some(Id::number(1)), outcome };
        translate(called, response, from, to, None).outcome
    }

    #[test]
    fn an_older_result_gets_the_members_of_the_newer_version() {
        for list in ListKind::ALL.map(ListKind::method).into_iter().chain(["resources/read"]) {
            assert_eq!(
                result(list, &json!({ "x": [] }), OLD, ProtocolVersion::Stateless),
                r#"{"x":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#
            );
        }
        assert_eq!(
            result("completion/complete", &json!({}), OLD, ProtocolVersion::Stateless),
            r#"{"resultType":"complete"}"#
        );
    }

    #[test]
    fn a_newer_result_loses_only_those_members() {
        let newer = json!({ "tools": [], "resultType": "complete", "ttlMs": 5, "cacheScope": "public",
            "_meta": { meta::SERVER: { "name": "s" }, "x": 1 } });
        assert_eq!(
            result("tools/list", &newer, ProtocolVersion::Stateless, OLD),
            r#"{"_meta":{"x":1},"tools":[]}"#
        );
        let newer = json!({ "resultType": "complete", "_meta": { meta::SERVER: { "name": "s" } } });
        assert_eq!(result("vendor/x", &newer, ProtocolVersion::Stateless, OLD), "{}");
    }

    #[test]
    fn a_missing_resource_has_the_error_code_of_the_editors_version() {
        let gone = json!({ "code": -32002, "message": "no" });
        let Outcome::Error(newer) = error("resources/read", &gone, OLD, ProtocolVersion::Stateless)
        else {
            panic!("an error")
        };
        assert_eq!(code(&newer), Some(-32602));
        let gone = json!({ "code": -32602, "message": "no", "data": { "uri": "x://1" } });
        let same = error("resources/read", &gone, ProtocolVersion::Stateless, OLD);
        assert_eq!(same, Outcome::Error(Raw::of(&gone)));
    }

    #[test]
    fn a_missing_capability_is_described_to_the_model() {
        let missing = json!({ "code": -32021, "message": "Elicitation is required.",
            "data": { "requiredCapabilities": { "elicitation": {} } } });
        let Outcome::Result(result) =
            error("tools/call", &missing, ProtocolVersion::Stateless, OLD)
        else {
            panic!("a result")
        };
        let result: Value = result.read().unwrap();
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("(elicitation)") && text.starts_with("Not executed"), "{text}");
        let Outcome::Error(translated) =
            error("prompts/get", &missing, ProtocolVersion::Stateless, OLD)
        else {
            panic!("an error")
        };
        assert_eq!(code(&translated), Some(-32603));
    }

    #[test]
    fn an_editor_gets_only_error_codes_of_its_version() {
        for newer in [-32020, -32021, -32022] {
            let refusal = json!({ "code": newer, "message": "no" });
            let Outcome::Error(translated) =
                error("resources/read", &refusal, ProtocolVersion::Stateless, OLD)
            else {
                panic!("an error")
            };
            assert_eq!(code(&translated), Some(-32603));
        }
        for older in [-32002, -32042] {
            let refusal = json!({ "code": older, "message": "no" });
            let Outcome::Error(translated) =
                error("tools/call", &refusal, OLD, ProtocolVersion::Stateless)
            else {
                panic!("an error")
            };
            assert!(matches!(code(&translated), Some(-32602 | -32021)), "{translated:?}");
        }
    }

    #[test]
    fn a_failed_call_names_the_missing_capability_and_a_success_is_unchanged() {
        let params = json!({ "messages": [], "maxTokens": 1 });
        let request = Request::new(Id::number(9), "sampling/createMessage", Some(Raw::of(&params)));
        let of = |result: Value| {
            let response = Response::result(Id::number(1), Raw::of(&result));
            missing_capability(&request, response).outcome
        };
        let content = json!([{ "type": "text", "text": "No model." }]);
        let Outcome::Error(error) = of(json!({ "content": content, "isError": true })) else {
            panic!("it failed")
        };
        let error: Value = error.read().unwrap();
        assert_eq!(error["code"], -32021);
        assert_eq!(error["data"]["requiredCapabilities"], json!({ "sampling": {} }));
        assert!(error["message"].as_str().unwrap().ends_with("No model."));
        assert!(matches!(of(json!({ "content": content })), Outcome::Result(_)));
    }

    proptest! {
        #[test]
        fn a_translation_to_the_newer_version_and_back_changes_nothing(text: String, number: i64, called in 0..4_usize) {
            let called = ["tools/list", "resources/read", "prompts/get", "vendor/x"][called];
            let own = Response::result(Id::number(1), Raw::of(&json!({ "text": text, "n": number })));
            let server = Raw::of(&json!({ "name": "s" }));
            let there = translate(called, own.clone(), OLD, ProtocolVersion::Stateless, Some(&server));
            prop_assert_eq!(translate(called, there, ProtocolVersion::Stateless, OLD, None), own);
        }

        #[test]
        fn between_equal_versions_every_byte_stays(text: String, version in 0..5_usize) {
            let own = Response::result(Id::number(1), Raw::of(&json!({ "resultType": text, "structuredContent": 1 })));
            let protocol_version = ProtocolVersion::ALL[version];
            prop_assert_eq!(translate("tools/call", own.clone(), protocol_version, protocol_version, None), own);
        }
    }
}
