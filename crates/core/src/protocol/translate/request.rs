//! Parameters that an upstream of another version does not know. The gateway's `upstream/transport/outbound`
//! applies this and the other steps in order.

use std::borrow::Cow;

use crate::protocol::envelope::Request;
use crate::protocol::mcp::{SessionVersion, meta, method};

use super::task;
use crate::protocol::params::Params;
use crate::protocol::version::ProtocolVersion;

/// The parameters of a request without those that an upstream of this version does not know. The
/// client's `_meta` is a separate step (see [`ClientMeta`](super::client_meta::ClientMeta)).
pub fn for_version<'a>(
    called: &str,
    params: Option<&'a Params>,
    upstream: ProtocolVersion,
) -> Option<Cow<'a, Params>> {
    let unknown = match called {
        method::COMPLETE if !upstream.knows(SessionVersion::V2025_06_18) => "context",
        method::TOOLS_CALL if upstream.is_stateless() => "task",
        _ => return params.map(Cow::Borrowed),
    };
    params.map(|params| match params.has(unknown) {
        true => Cow::Owned(params.without(&[unknown])),
        false => Cow::Borrowed(params),
    })
}

/// The call changed so that neither side can turn it into a task.
pub fn without_tasks(request: Request) -> Request {
    if request.method != method::TOOLS_CALL {
        return request;
    }
    let request = without(request, "task");
    let capabilities = request.params.as_ref().and_then(|params| params.meta(meta::CAPABILITIES));
    let Some(capabilities) = capabilities.filter(task::is_declared) else { return request };
    let extensions = capabilities.member("extensions").map(|all| all.without(&[task::EXTENSION]));
    let capabilities = match extensions {
        Some(rest) => capabilities.with("extensions", &rest),
        None => capabilities,
    };
    let params = request.params.map(|params| params.with_meta(meta::CAPABILITIES, &capabilities));
    Request { params, ..request }
}

fn without(request: Request, member: &str) -> Request {
    let params = request.params.map(|params| params.without(&[member]));
    Request { params, ..request }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::envelope::Id;
    use crate::protocol::json::Raw;

    fn request(called: &str) -> Request {
        let params = serde_json::json!({ "ref": {}, "context": { "arguments": {} }, "task": {} });
        Request::new(Id::number(1), called, Some(Raw::of(&params)))
    }

    #[test]
    fn a_completion_has_no_context_before_2025_06_18() {
        for protocol_version in ProtocolVersion::ALL {
            let params = request("completion/complete").params;
            let sent =
                for_version("completion/complete", params.as_ref(), protocol_version).unwrap();
            let known = protocol_version.knows(SessionVersion::V2025_06_18);
            assert_eq!(sent.has("context"), known, "{protocol_version:?}");
            assert!(sent.has("ref"));
        }
    }

    #[test]
    fn a_stateless_server_is_not_asked_for_a_task_by_a_parameter() {
        for protocol_version in ProtocolVersion::ALL {
            let params = request("tools/call").params;
            let sent = for_version("tools/call", params.as_ref(), protocol_version).unwrap();
            assert_eq!(sent.has("task"), !protocol_version.is_stateless());
            let other = for_version("vendor/x", params.as_ref(), protocol_version);
            assert_eq!(other.as_deref(), params.as_ref());
        }
    }

    #[test]
    fn a_call_that_cannot_become_a_task_does_not_ask_for_one() {
        assert_eq!(without_tasks(request("tools/call")).params.unwrap().member("task"), None);
        assert_eq!(without_tasks(request("vendor/x")), request("vendor/x"));
        let capabilities = task::declared(&Raw::of(&serde_json::json!({ "roots": {} })));
        let meta = Raw::of(&serde_json::json!({})).with(meta::CAPABILITIES, &capabilities);
        let params = Raw::of(&serde_json::json!({ "name": "x" })).with("_meta", &meta);
        let call = Request::new(Id::number(1), "tools/call", Some(params));
        let meta = without_tasks(call).params.unwrap().member("_meta").unwrap();
        let capabilities = meta.member(meta::CAPABILITIES).unwrap();
        assert_eq!(capabilities.as_str(), r#"{"roots":{},"extensions":{}}"#);
    }
}
