//! A request in the words of the upstream that it goes to.

use crate::protocol::envelope::Request;
use crate::protocol::mcp::{Revision, meta, method};

use super::task;
use crate::protocol::version::Spoken;

/// The request without what an upstream of this revision does not know. What it says of who asks is
/// added or taken out when it is sent (see [`WhoAsks`](super::client_meta::WhoAsks)).
pub fn worded(request: Request, upstream: Spoken) -> Request {
    match request.method.as_str() {
        method::COMPLETE if !upstream.knows(Revision::V2025_06_18) => without(request, "context"),
        _ => request,
    }
}

/// A call that cannot become a task, whichever side would make it one.
pub fn without_tasks(request: Request) -> Request {
    if request.method != method::TOOLS_CALL {
        return request;
    }
    let request = without(request, "task");
    let said = request.params.as_ref().and_then(|params| params.member("_meta"));
    let capabilities = said.as_ref().and_then(|said| said.member(meta::CAPABILITIES));
    let Some((said, capabilities)) = said.zip(capabilities.filter(task::is_declared)) else {
        return request;
    };
    let extensions = capabilities.member("extensions").map(|all| all.without(&[task::EXTENSION]));
    let capabilities = match extensions {
        Some(rest) => capabilities.with("extensions", &rest),
        None => capabilities,
    };
    let said = said.with(meta::CAPABILITIES, &capabilities);
    let params = request.params.map(|params| params.with("_meta", &said));
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
        for spoken in Spoken::ALL {
            let sent = worded(request("completion/complete"), spoken).params.unwrap();
            let known = spoken.knows(Revision::V2025_06_18);
            assert_eq!(sent.member("context").is_some(), known, "{spoken:?}");
            assert!(sent.member("ref").is_some());
            assert_eq!(worded(request("tools/call"), spoken), request("tools/call"));
        }
    }

    #[test]
    fn a_call_that_cannot_become_a_task_does_not_ask_for_one() {
        assert_eq!(without_tasks(request("tools/call")).params.unwrap().member("task"), None);
        assert_eq!(without_tasks(request("vendor/x")), request("vendor/x"));
        let capabilities = task::declared(&Raw::of(&serde_json::json!({ "roots": {} })));
        let said = Raw::of(&serde_json::json!({})).with(meta::CAPABILITIES, &capabilities);
        let params = Raw::of(&serde_json::json!({ "name": "x" })).with("_meta", &said);
        let call = Request::new(Id::number(1), "tools/call", Some(params));
        let said = without_tasks(call).params.unwrap().member("_meta").unwrap();
        let capabilities = said.member(meta::CAPABILITIES).unwrap();
        assert_eq!(capabilities.as_str(), r#"{"roots":{},"extensions":{}}"#);
    }
}
