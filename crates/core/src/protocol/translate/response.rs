//! An answer in the words of another revision.
//!
//! Results of 2026-07-28 bear marks that the older revisions do not know, and each era has errors
//! of its own. Between two of the same era nothing is looked at.

use crate::catalog::List;
use crate::protocol::envelope::{INVALID_PARAMS, Outcome, Request, Response};
use crate::protocol::json::Raw;
use crate::protocol::mcp::{meta, method};

use super::client_capabilities::Abilities;
use super::content::readable;
use crate::protocol::version::Spoken;

/// What older servers say of a resource that is not there.
const RESOURCE_NOT_FOUND: i64 = -32002;
/// What a server of 2025-11-25 says when a person must open a link first.
pub const LINK_REQUIRED: i64 = -32042;
/// What a newer server says of a header that disagrees with the body.
pub const HEADERS_DISAGREE: i32 = -32020;
/// What a newer server says to who cannot be asked for what it needs.
pub const ABILITY_MISSING: i32 = -32021;
pub const UNSUPPORTED_VERSION: i32 = -32022;
const INTERNAL: i32 = -32603;

/// Marks of results that the older revisions do not know.
const MARKS: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// The answer to `called` of somebody who speaks `from`, for an editor that speaks `to`. `server` is
/// who answers, as far as the newer revision wants to be told.
pub fn translated(
    called: &str,
    response: Response,
    from: Spoken,
    to: Spoken,
    server: Option<&Raw>,
) -> Response {
    let response = match (from, to) {
        (Spoken::Session(_), Spoken::Stateless) => return newer(called, response, server),
        (Spoken::Stateless, Spoken::Session(_)) => older(called, response),
        (Spoken::Session(_), Spoken::Session(_)) | (Spoken::Stateless, Spoken::Stateless) => {
            response
        }
    };
    match &response.outcome {
        Outcome::Result(result) => match readable(called, result, from, to) {
            Some(readable) => Response { outcome: Outcome::Result(readable), ..response },
            None => response,
        },
        Outcome::Error(_) => response,
    }
}

/// An answer of an older upstream, or of the gateway, as the newer revision wants it.
pub fn newer(called: &str, response: Response, server: Option<&Raw>) -> Response {
    let outcome = match response.outcome {
        Outcome::Result(result) => Outcome::Result(complete(called, &result, server)),
        Outcome::Error(error) => Outcome::Error(newer_error(error)),
    };
    Response { outcome, ..response }
}

fn complete(called: &str, result: &Raw, server: Option<&Raw>) -> Raw {
    let mut marked = match result.member("resultType") {
        Some(_) => result.clone(),
        None => result.with("resultType", &Raw::of("complete")),
    };
    if List::asked_by(called).is_some() || called == method::RESOURCES_READ {
        if marked.member("ttlMs").is_none() {
            marked = marked.with("ttlMs", &Raw::of(&0));
        }
        if marked.member("cacheScope").is_none() {
            marked = marked.with("cacheScope", &Raw::of("private"));
        }
    }
    if let Some(server) = server {
        let said = marked.member("_meta").unwrap_or_else(|| Raw::of(&serde_json::json!({})));
        if said.member(meta::SERVER).is_none() {
            marked = marked.with("_meta", &said.with(meta::SERVER, server));
        }
    }
    marked
}

/// An error in the codes of the newer revision, which has given two of the older ones up.
fn newer_error(error: Raw) -> Raw {
    match code(&error) {
        Some(RESOURCE_NOT_FOUND) => error.with("code", &Raw::of(&INVALID_PARAMS)),
        Some(LINK_REQUIRED) => {
            let needed =
                serde_json::json!({ "requiredCapabilities": { "elicitation": { "url": {} } } });
            error.with("code", &Raw::of(&ABILITY_MISSING)).with("data", &Raw::of(&needed))
        }
        Some(_) | None => error,
    }
}

/// A failure of a request whose upstream asked the editor for something that it does not offer. An
/// older upstream cannot know that beforehand, so this is said in its place, with its own words.
pub fn unable(question: &Request, response: Response) -> Response {
    let said = match &response.outcome {
        Outcome::Error(error) => error.text_member("message"),
        Outcome::Result(result) => match result.member("isError") {
            Some(flag) if flag.as_str() == "true" => first_text(result),
            Some(_) | None => return response,
        },
    };
    let needed = Abilities::needed_for(question).capabilities();
    let words = format!("The server needs `{}`, which the client does not offer", question.method);
    let message = match said {
        Some(said) => format!("{words}: {said}"),
        None => format!("{words}."),
    };
    let error = Raw::of(&serde_json::json!({ "code": ABILITY_MISSING, "message": message }));
    let data = Raw::of(&serde_json::json!({})).with("requiredCapabilities", &needed);
    Response { outcome: Outcome::Error(error.with("data", &data)), ..response }
}

fn first_text(result: &Raw) -> Option<String> {
    result.member("content")?.elements()?.iter().find_map(|block| block.text_member("text"))
}

/// An answer of a newer upstream as the older revisions know it.
fn older(called: &str, response: Response) -> Response {
    let outcome = match response.outcome {
        Outcome::Result(result) => Outcome::Result(unmarked(&result)),
        Outcome::Error(error) => older_error(called, error),
    };
    Response { outcome, ..response }
}

/// The same result without what only the newer revision knows.
pub fn unmarked(result: &Raw) -> Raw {
    let result = result.without(&MARKS);
    let Some(said) = result.member("_meta").filter(|said| said.member(meta::SERVER).is_some())
    else {
        return result;
    };
    match said.without(&[meta::SERVER]) {
        rest if rest.as_str() == "{}" => result.without(&["_meta"]),
        rest => result.with("_meta", &rest),
    }
}

/// Errors that are about how an upstream was spoken to mean nothing to an editor that did not speak
/// so. A model can make something of the one that says what its editor would need.
fn older_error(called: &str, error: Raw) -> Outcome {
    let said = error.text_member("message").unwrap_or_default();
    let own = |wanted: i32| code(&error) == Some(i64::from(wanted));
    if own(ABILITY_MISSING) {
        let words = missing(&error, &said);
        if called == method::TOOLS_CALL {
            let block = serde_json::json!({ "type": "text", "text": words });
            return Outcome::Result(Raw::of(
                &serde_json::json!({ "content": [block], "isError": true }),
            ));
        }
        return Outcome::Error(error_of(&words));
    }
    if own(HEADERS_DISAGREE) || own(UNSUPPORTED_VERSION) {
        let words = format!(
            "The server did not accept how Evermoor spoke to it, so nothing was executed ({said}). Call again; if that does not help, restart the server in Evermoor."
        );
        return Outcome::Error(error_of(&words));
    }
    Outcome::Error(error)
}

fn missing(error: &Raw, said: &str) -> String {
    let needed = error.member("data").and_then(|data| data.member("requiredCapabilities"));
    let needed = needed.and_then(|needed| needed.entries()).unwrap_or_default();
    let named: Vec<String> = needed.into_iter().map(|(name, _)| name).collect();
    let needed = match named.is_empty() {
        true => String::new(),
        false => format!(" It needs: {}.", named.join(", ")),
    };
    format!(
        "Not executed: this needs a client that offers more than the one at hand.{needed} The server says: {said}"
    )
}

fn error_of(words: &str) -> Raw {
    Raw::of(&serde_json::json!({ "code": INTERNAL, "message": words }))
}

/// The code of an error.
pub fn code(error: &Raw) -> Option<i64> {
    error.member("code").and_then(|code| code.read().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::envelope::Id;
    use crate::protocol::mcp::Revision;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const OLD: Spoken = Spoken::Session(Revision::LATEST);

    fn result(called: &str, result: &Value, from: Spoken, to: Spoken) -> String {
        let response = Response::result(Id::number(1), Raw::of(result));
        match translated(called, response, from, to, None).outcome {
            Outcome::Result(result) => result.as_str().to_owned(),
            Outcome::Error(error) => panic!("{error:?}"),
        }
    }

    fn error(called: &str, error: &Value, from: Spoken, to: Spoken) -> Outcome {
        let outcome = Outcome::Error(Raw::of(error));
        let response = Response { id: Some(Id::number(1)), outcome };
        translated(called, response, from, to, None).outcome
    }

    #[test]
    fn an_older_answer_gets_the_marks_of_the_newer_revision() {
        for list in List::ALL.map(List::method).into_iter().chain(["resources/read"]) {
            assert_eq!(
                result(list, &json!({ "x": [] }), OLD, Spoken::Stateless),
                r#"{"x":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#
            );
        }
        assert_eq!(
            result("completion/complete", &json!({}), OLD, Spoken::Stateless),
            r#"{"resultType":"complete"}"#
        );
    }

    #[test]
    fn a_newer_answer_loses_them_and_nothing_else() {
        let newer = json!({ "tools": [], "resultType": "complete", "ttlMs": 5, "cacheScope": "public",
            "_meta": { meta::SERVER: { "name": "s" }, "x": 1 } });
        assert_eq!(
            result("tools/list", &newer, Spoken::Stateless, OLD),
            r#"{"_meta":{"x":1},"tools":[]}"#
        );
        let newer = json!({ "resultType": "complete", "_meta": { meta::SERVER: { "name": "s" } } });
        assert_eq!(result("vendor/x", &newer, Spoken::Stateless, OLD), "{}");
    }

    #[test]
    fn a_resource_that_is_not_there_is_missing_in_the_words_of_either_era() {
        let gone = json!({ "code": -32002, "message": "no" });
        let Outcome::Error(newer) = error("resources/read", &gone, OLD, Spoken::Stateless) else {
            panic!("an error")
        };
        assert_eq!(code(&newer), Some(-32602));
        let gone = json!({ "code": -32602, "message": "no", "data": { "uri": "x://1" } });
        let same = error("resources/read", &gone, Spoken::Stateless, OLD);
        assert_eq!(same, Outcome::Error(Raw::of(&gone)));
    }

    #[test]
    fn what_an_editor_would_need_is_told_to_its_model() {
        let missing = json!({ "code": -32021, "message": "Elicitation is required.",
            "data": { "requiredCapabilities": { "elicitation": {} } } });
        let Outcome::Result(told) = error("tools/call", &missing, Spoken::Stateless, OLD) else {
            panic!("a result")
        };
        let told: Value = told.read().unwrap();
        assert_eq!(told["isError"], true);
        let words = told["content"][0]["text"].as_str().unwrap();
        assert!(
            words.contains("It needs: elicitation.") && words.starts_with("Not executed"),
            "{words}"
        );
        let Outcome::Error(told) = error("prompts/get", &missing, Spoken::Stateless, OLD) else {
            panic!("an error")
        };
        assert_eq!(code(&told), Some(-32603));
    }

    #[test]
    fn codes_that_an_era_does_not_have_do_not_reach_it() {
        for newer in [-32020, -32021, -32022] {
            let refusal = json!({ "code": newer, "message": "no" });
            let told = error("resources/read", &refusal, Spoken::Stateless, OLD);
            let Outcome::Error(told) = told else { panic!("an error") };
            assert_eq!(code(&told), Some(-32603));
        }
        for older in [-32002, -32042] {
            let refusal = json!({ "code": older, "message": "no" });
            let told = error("tools/call", &refusal, OLD, Spoken::Stateless);
            let Outcome::Error(told) = told else { panic!("an error") };
            assert!(matches!(code(&told), Some(-32602 | -32021)), "{told:?}");
        }
    }

    #[test]
    fn what_failed_for_want_of_an_ability_says_which_and_what_did_not_fail_is_left_alone() {
        let params = json!({ "messages": [], "maxTokens": 1 });
        let question =
            Request::new(Id::number(9), "sampling/createMessage", Some(Raw::of(&params)));
        let of = |result: Value| {
            let response = Response::result(Id::number(1), Raw::of(&result));
            unable(&question, response).outcome
        };
        let said = json!([{ "type": "text", "text": "No model." }]);
        let Outcome::Error(error) = of(json!({ "content": said, "isError": true })) else {
            panic!("it failed")
        };
        let error: Value = error.read().unwrap();
        assert_eq!(error["code"], -32021);
        assert_eq!(error["data"]["requiredCapabilities"], json!({ "sampling": {} }));
        assert!(error["message"].as_str().unwrap().ends_with("No model."));
        assert!(matches!(of(json!({ "content": said })), Outcome::Result(_)));
    }

    proptest! {
        #[test]
        fn to_the_newer_revision_and_back_is_the_way_home(text: String, number: i64, called in 0..4_usize) {
            let called = ["tools/list", "resources/read", "prompts/get", "vendor/x"][called];
            let own = Response::result(Id::number(1), Raw::of(&json!({ "text": text, "n": number })));
            let server = Raw::of(&json!({ "name": "s" }));
            let there = translated(called, own.clone(), OLD, Spoken::Stateless, Some(&server));
            prop_assert_eq!(translated(called, there, Spoken::Stateless, OLD, None), own);
        }

        #[test]
        fn between_two_of_one_revision_every_byte_stays(text: String, era in 0..5_usize) {
            let own = Response::result(Id::number(1), Raw::of(&json!({ "resultType": text, "structuredContent": 1 })));
            let spoken = Spoken::ALL[era];
            prop_assert_eq!(translated("tools/call", own.clone(), spoken, spoken, None), own);
        }
    }
}
