//! Requests of 2026-07-28, in which each one speaks for itself.
//!
//! What a request says in its body stands in its headers too, so that whoever looks at the headers
//! alone is not deceived. A request whose halves disagree is refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::protocol::envelope::{
    INVALID_PARAMS, METHOD_NOT_FOUND, Notification, Outcome, Request, Response,
};
use crate::protocol::json::Raw;
use crate::protocol::log_level::Level;
use crate::protocol::mcp::{STATELESS, header, meta, method};

use super::translate::client_capabilities::Abilities;
use super::translate::response::{HEADERS_DISAGREE, UNSUPPORTED_VERSION};
use super::translate::server_info::supported;
use super::translate::task;

/// What a request says of whoever makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub abilities: Abilities,
    /// It can follow tasks.
    pub tasks: bool,
    /// Which log messages about the request are wanted.
    pub level: Option<Level>,
}

/// Why a request is not even looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub status: u16,
    pub response: Response,
}

/// The request id by which a stream of news is known.
pub const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The header by which the shim says that its editor speaks over pipes, where nothing is repeated in
/// headers.
pub const OVER_PIPES: &str = "evermoor-over-pipes";

/// A piece of news without the number of the stream that it came on, which is ours alone.
pub fn unsubscribed(told: Notification) -> Notification {
    let said = told.params.as_ref().and_then(|params| params.member("_meta"));
    let Some(said) = said.filter(|said| said.member(meta::SUBSCRIPTION).is_some()) else {
        return told;
    };
    let params = told.params.map(|params| match said.without(&[meta::SUBSCRIPTION]) {
        rest if rest.as_str() == "{}" => params.without(&["_meta"]),
        rest => params.with("_meta", &rest),
    });
    Notification { params, ..told }
}

/// Whether the message claims to be of this revision.
pub fn is_claimed(params: Option<&Raw>) -> bool {
    claim(params).is_some()
}

fn claim(params: Option<&Raw>) -> Option<String> {
    params?.member("_meta")?.text_member(meta::REVISION)
}

/// Checks that a request's halves agree, and reads who makes it. `header` gives a header's value.
pub fn read(request: &Request, header: impl Fn(&str) -> Option<String>) -> Result<Asked, Refused> {
    let refuse = |status, code, why: &str| {
        let response = Response::error(Some(request.id.clone()), code, why);
        Refused { status, response }
    };
    let disagree = |why: &str| refuse(400, HEADERS_DISAGREE, why);
    let said = request.params.as_ref().and_then(|params| params.member("_meta"));
    let claimed = claim(request.params.as_ref());
    let revision = header(header::REVISION);
    match (&revision, &claimed) {
        (Some(revision), _) if revision != STATELESS => {
            return Err(unsupported(request, revision));
        }
        (Some(_), None) => {
            let why = format!("`_meta` must hold `{}`.", meta::REVISION);
            return Err(refuse(400, INVALID_PARAMS, &why));
        }
        (Some(revision), Some(claimed)) if revision != claimed => {
            return Err(disagree("The header MCP-Protocol-Version and `_meta` disagree."));
        }
        (None, Some(claimed)) if claimed != STATELESS => {
            return Err(unsupported(request, claimed));
        }
        (None, _) => return Err(disagree("The header MCP-Protocol-Version is missing.")),
        (Some(_), Some(_)) => {}
    }
    if header("mcp-method").as_deref() != Some(&request.method) {
        return Err(disagree("The header Mcp-Method must be the method of the body."));
    }
    if let Some(name) = named(request) {
        let told = header("mcp-name").and_then(|value| plain(&value));
        if told.as_deref() != Some(&name) {
            return Err(disagree("The header Mcp-Name must be the name or address in the body."));
        }
    }
    let capabilities = said.as_ref().and_then(|said| said.member(meta::CAPABILITIES));
    let Some(capabilities) = capabilities.filter(|raw| raw.entries().is_some()) else {
        let why = format!("`_meta` must hold `{}`, an object.", meta::CAPABILITIES);
        return Err(refuse(400, INVALID_PARAMS, &why));
    };
    if is_gone(&request.method) {
        let why = format!("`{}` does not exist in {STATELESS}.", request.method);
        return Err(refuse(404, METHOD_NOT_FOUND, &why));
    }
    let level = said.and_then(|said| said.text_member(meta::LOG_LEVEL));
    let level = level.as_deref().and_then(Level::parse);
    let (abilities, tasks) = (Abilities::read(&capabilities), task::is_declared(&capabilities));
    Ok(Asked { abilities, tasks, level })
}

fn unsupported(request: &Request, requested: &str) -> Refused {
    let error = serde_json::json!({
        "code": UNSUPPORTED_VERSION,
        "message": format!("The revision {requested} is not supported."),
        "data": { "supported": supported(), "requested": requested },
    });
    let outcome = Outcome::Error(Raw::of(&error));
    Refused { status: 400, response: Response { id: Some(request.id.clone()), outcome } }
}

/// Methods that this revision has no more.
fn is_gone(called: &str) -> bool {
    matches!(
        called,
        method::INITIALIZE
            | method::PING
            | method::SET_LEVEL
            | method::SUBSCRIBE
            | method::UNSUBSCRIBE
    )
}

/// What a request calls by name.
pub fn named(request: &Request) -> Option<String> {
    let member = match request.method.as_str() {
        method::TOOLS_CALL | method::PROMPTS_GET => "name",
        method::RESOURCES_READ => "uri",
        method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL => "taskId",
        _ => return None,
    };
    request.params.as_ref()?.text_member(member)
}

/// A text as a header can hold it: as it is, or encoded with a mark that says so.
pub fn header_text(text: &str) -> String {
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    let framed = text.starts_with(' ') || text.ends_with(' ') || text.starts_with("=?");
    if plain && !framed { text.to_owned() } else { format!("=?base64?{}?=", BASE64.encode(text)) }
}

/// The text that a header holds.
pub fn plain(value: &str) -> Option<String> {
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
            meta::REVISION: STATELESS,
            meta::CAPABILITIES: { "roots": {} },
        });
        Request::new(Id::number(1), called, Some(Raw::of(&params)))
    }

    fn headers(called: &str, name: Option<&str>) -> impl Fn(&str) -> Option<String> {
        let (called, name) = (called.to_owned(), name.map(header_text));
        move |header| match header {
            "mcp-protocol-version" => Some(STATELESS.to_owned()),
            "mcp-method" => Some(called.clone()),
            "mcp-name" => name.clone(),
            _ => None,
        }
    }

    fn code(refused: Result<Asked, Refused>) -> (u16, i64) {
        let refused = refused.unwrap_err();
        let Outcome::Error(error) = refused.response.outcome else { panic!("an error") };
        (refused.status, error.member("code").unwrap().read().unwrap())
    }

    #[test]
    fn a_request_whose_halves_agree_is_read() {
        let call = request("tools/call", serde_json::json!({ "name": "é" }));
        let asked = read(&call, headers("tools/call", Some("é"))).unwrap();
        assert_eq!(asked.abilities, Abilities::from_bits(16));
    }

    #[test]
    fn a_request_whose_halves_disagree_is_refused() {
        let call = request("tools/call", serde_json::json!({ "name": "a" }));
        assert_eq!(code(read(&call, headers("tools/list", Some("a")))), (400, -32020));
        assert_eq!(code(read(&call, headers("tools/call", Some("b")))), (400, -32020));
        assert_eq!(code(read(&call, headers("tools/call", None))), (400, -32020));
        assert_eq!(code(read(&call, |_| None)), (400, -32020));
    }

    #[test]
    fn a_revision_that_nobody_knows_is_refused_with_those_that_are() {
        let call = request("tools/list", serde_json::json!({}));
        let future = |name: &str| (name == "mcp-protocol-version").then(|| "2099-01-01".to_owned());
        assert_eq!(code(read(&call, future)), (400, -32022));
    }

    #[test]
    fn what_this_revision_has_no_more_is_not_found() {
        for called in ["ping", "logging/setLevel", "resources/subscribe"] {
            let call = request(called, serde_json::json!({}));
            assert_eq!(code(read(&call, headers(called, None))), (404, -32601), "{called}");
        }
    }

    proptest! {
        #[test]
        fn a_header_holds_any_text(text: String) {
            let held = header_text(&text);
            prop_assert!(held.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '));
            prop_assert_eq!(plain(&held), Some(text));
        }
    }
}
