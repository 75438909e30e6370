//! Requests of 2026-07-28, which are self-contained.
//!
//! Some values of the body are repeated in headers for intermediaries that do not parse the body. A
//! request whose headers do not match its body is rejected.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::protocol::envelope::{
    INVALID_PARAMS, METHOD_NOT_FOUND, Notification, Outcome, Request, Response,
};
use crate::protocol::json::Raw;
use crate::protocol::log_level::LoggingLevel;
use crate::protocol::mcp::{STATELESS, header, meta, method};
use crate::protocol::params::Params;

use super::translate::client_capabilities::ClientCapabilities;
use super::translate::response::{HEADER_MISMATCH, UNSUPPORTED_VERSION};
use super::translate::server_info::supported;
use super::translate::task;

/// What a request says about its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestMeta {
    pub client_capabilities: ClientCapabilities,
    /// The client supports tasks.
    pub tasks: bool,
    /// The minimum level of log messages that the client wants about this request.
    pub level: Option<LoggingLevel>,
}

/// A rejected request: the HTTP status and the error response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedRequest {
    pub status: u16,
    pub response: Response,
}

/// The first notification on a subscription stream.
pub const SUBSCRIPTIONS_ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The shim sets this header because its editor uses stdio, where values cannot be repeated in
/// headers.
pub const STDIO_CLIENT_HEADER: &str = "evermoor-over-pipes";

/// The notification without the id of its subscription, which belongs to the gateway.
pub fn without_subscription_id(notification: Notification) -> Notification {
    let meta = notification.params.as_ref().and_then(|params| params.member("_meta"));
    let Some(meta) = meta.filter(|meta| meta.member(meta::SUBSCRIPTION).is_some()) else {
        return notification;
    };
    let params = notification.params.map(|params| match meta.without(&[meta::SUBSCRIPTION]) {
        rest if rest.as_str() == "{}" => params.without(&["_meta"]),
        rest => params.with("_meta", &rest),
    });
    Notification { params, ..notification }
}

/// Whether the message says that it is of this protocol version.
pub fn is_stateless(params: Option<&Params>) -> bool {
    claimed_version(params).is_some()
}

fn claimed_version(params: Option<&Params>) -> Option<String> {
    params?.meta(meta::PROTOCOL_VERSION)?.read().ok()
}

/// Checks that the headers of a request match its body, and reads what it says about its client.
/// `header` returns the value of a header.
pub fn read(
    request: &Request,
    header: impl Fn(&str) -> Option<String>,
) -> Result<RequestMeta, RejectedRequest> {
    let reject = |status, code, why: &str| {
        let response = Response::error(Some(request.id.clone()), code, why);
        RejectedRequest { status, response }
    };
    let mismatch = |why: &str| reject(400, HEADER_MISMATCH, why);
    let meta = |key: &str| request.params.as_ref().and_then(|params| params.meta(key));
    let claimed = claimed_version(request.params.as_ref());
    let revision = header(header::PROTOCOL_VERSION);
    match (&revision, &claimed) {
        (Some(revision), _) if revision != STATELESS => {
            return Err(unsupported(request, revision));
        }
        (Some(_), None) => {
            let why = format!("`_meta` must contain `{}`.", meta::PROTOCOL_VERSION);
            return Err(reject(400, INVALID_PARAMS, &why));
        }
        (Some(revision), Some(claimed)) if revision != claimed => {
            return Err(mismatch("The MCP-Protocol-Version header does not match `_meta`."));
        }
        (None, Some(claimed)) if claimed != STATELESS => {
            return Err(unsupported(request, claimed));
        }
        (None, _) => return Err(mismatch("The MCP-Protocol-Version header is missing.")),
        (Some(_), Some(_)) => {}
    }
    if header("mcp-method").as_deref() != Some(&request.method) {
        return Err(mismatch("The Mcp-Method header does not match the method in the body."));
    }
    if let Some(name) = mcp_name(request) {
        let sent = header("mcp-name").and_then(|value| decode_header(&value));
        if sent.as_deref() != Some(&name) {
            return Err(mismatch(
                "The Mcp-Name header does not match the name or URI in the body.",
            ));
        }
    }
    let Some(capabilities) = meta(meta::CAPABILITIES).filter(|raw| raw.entries().is_some()) else {
        let why = format!("`_meta` must contain `{}`, an object.", meta::CAPABILITIES);
        return Err(reject(400, INVALID_PARAMS, &why));
    };
    if is_removed(&request.method) {
        let why = format!("`{}` does not exist in {STATELESS}.", request.method);
        return Err(reject(404, METHOD_NOT_FOUND, &why));
    }
    let level = meta(meta::LOG_LEVEL).and_then(|level| level.read::<String>().ok());
    let level = level.as_deref().and_then(LoggingLevel::parse);
    let (client_capabilities, tasks) =
        (ClientCapabilities::read(&capabilities), task::is_declared(&capabilities));
    Ok(RequestMeta { client_capabilities, tasks, level })
}

fn unsupported(request: &Request, requested: &str) -> RejectedRequest {
    let error = serde_json::json!({
        "code": UNSUPPORTED_VERSION,
        "message": format!("Protocol version {requested} is not supported."),
        "data": { "supported": supported(), "requested": requested },
    });
    let outcome = Outcome::Error(Raw::of(&error));
    RejectedRequest { status: 400, response: Response { id: Some(request.id.clone()), outcome } }
}

/// Methods that this protocol version removed.
fn is_removed(called: &str) -> bool {
    matches!(
        called,
        method::INITIALIZE
            | method::PING
            | method::SET_LEVEL
            | method::SUBSCRIBE
            | method::UNSUBSCRIBE
    )
}

/// The value of the `Mcp-Name` header: the name, URI or task id in the body.
pub fn mcp_name(request: &Request) -> Option<String> {
    let member = match request.method.as_str() {
        method::TOOLS_CALL | method::PROMPTS_GET => "name",
        method::RESOURCES_READ => "uri",
        method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL => "taskId",
        _ => return None,
    };
    request.params.as_ref()?.text_member(member)
}

/// Encodes a text as a header value: as it is if possible, otherwise in Base64 with a marker.
pub fn encode_header(text: &str) -> String {
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    let ambiguous = text.starts_with(' ') || text.ends_with(' ') || text.starts_with("=?");
    if plain && !ambiguous {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64.encode(text))
    }
}

/// Decodes a header value.
pub fn decode_header(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(BASE64.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::envelope::Id;
    use proptest::prelude::*;

    fn request(called: &str, params: serde_json::Value) -> Request {
        let mut params = params;
        params["_meta"] = serde_json::json!({
            meta::PROTOCOL_VERSION: STATELESS,
            meta::CAPABILITIES: { "roots": {} },
        });
        Request::new(Id::number(1), called, Some(Raw::of(&params)))
    }

    fn headers(called: &str, name: Option<&str>) -> impl Fn(&str) -> Option<String> {
        let (called, name) = (called.to_owned(), name.map(encode_header));
        move |header| match header {
            "mcp-protocol-version" => Some(STATELESS.to_owned()),
            "mcp-method" => Some(called.clone()),
            "mcp-name" => name.clone(),
            _ => None,
        }
    }

    fn code(result: Result<RequestMeta, RejectedRequest>) -> (u16, i64) {
        let refused = result.unwrap_err();
        let Outcome::Error(error) = refused.response.outcome else { panic!("an error") };
        (refused.status, error.member("code").unwrap().read().unwrap())
    }

    #[test]
    fn a_request_whose_headers_match_is_read() {
        let call = request("tools/call", serde_json::json!({ "name": "é" }));
        let asked = read(&call, headers("tools/call", Some("é"))).unwrap();
        assert_eq!(asked.client_capabilities, ClientCapabilities::from_bits(16));
    }

    #[test]
    fn a_request_whose_headers_do_not_match_is_rejected() {
        let call = request("tools/call", serde_json::json!({ "name": "a" }));
        assert_eq!(code(read(&call, headers("tools/list", Some("a")))), (400, -32020));
        assert_eq!(code(read(&call, headers("tools/call", Some("b")))), (400, -32020));
        assert_eq!(code(read(&call, headers("tools/call", None))), (400, -32020));
        assert_eq!(code(read(&call, |_| None)), (400, -32020));
    }

    #[test]
    fn an_unknown_version_is_rejected_with_the_supported_ones() {
        let call = request("tools/list", serde_json::json!({}));
        let future = |name: &str| (name == "mcp-protocol-version").then(|| "2099-01-01".to_owned());
        assert_eq!(code(read(&call, future)), (400, -32022));
    }

    #[test]
    fn a_removed_method_is_not_found() {
        for called in ["ping", "logging/setLevel", "resources/subscribe"] {
            let call = request(called, serde_json::json!({}));
            assert_eq!(code(read(&call, headers(called, None))), (404, -32601), "{called}");
        }
    }

    proptest! {
        #[test]
        fn a_header_can_carry_any_text(text: String) {
            let value = encode_header(&text);
            prop_assert!(value.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '));
            prop_assert_eq!(decode_header(&value), Some(text));
        }
    }
}
