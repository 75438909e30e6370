//! Which requests may be sent again when it is unknown whether they were executed.
//!
//! How often and for how long they are sent again is decided in the gateway's `upstream/delivery`.

use crate::catalog::tool_traits::ToolTraits;
use crate::protocol::envelope::Request;
use crate::protocol::mcp::method;

/// Whether a request may be sent more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryClass {
    /// Idempotent: sending it twice has the same effect as sending it once.
    Repeatable,
    /// It may have side effects, so it is sent at most once.
    Once,
}

impl RetryClass {
    /// The class of a method. An unknown method is sent at most once.
    pub fn of(called: &str) -> Self {
        const REPEATABLE: [&str; 13] = [
            method::DISCOVER,
            method::INITIALIZE,
            method::PING,
            method::RESOURCES_READ,
            method::PROMPTS_GET,
            method::COMPLETE,
            method::LISTEN,
            method::SUBSCRIBE,
            method::UNSUBSCRIBE,
            method::TASKS_GET,
            method::TASKS_CANCEL,
            method::TASKS_RESULT,
            method::SET_LEVEL,
        ];
        let repeatable = REPEATABLE.contains(&called)
            || called == method::TEMPLATES_LIST
            || called.ends_with("/list");
        if repeatable { Self::Repeatable } else { Self::Once }
    }
}

/// Which tools of an upstream may be called more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Trust the upstream's `readOnlyHint` and `idempotentHint`.
    pub trust_annotations: bool,
    /// Tools that the user declared safe to repeat.
    pub safe_tools: Vec<String>,
}

impl RetryPolicy {
    /// The class of a request. A tool call may be repeated if the user declared the tool safe, or
    /// if a trusted upstream did; never if it carries the user's answers.
    pub fn class(&self, request: &Request, traits: Option<&ToolTraits>) -> RetryClass {
        let params = request.params.as_ref();
        if params.is_some_and(|params| params.has("inputResponses")) {
            return RetryClass::Once;
        }
        if request.method != method::TOOLS_CALL {
            return RetryClass::of(&request.method);
        }
        let Some(params) = params else { return RetryClass::Once };
        let name = params.text_member("name").unwrap_or_default();
        let declared =
            self.trust_annotations && traits.is_some_and(|traits| traits.is_repeatable(&name));
        let repeatable = declared || self.safe_tools.contains(&name);
        if repeatable { RetryClass::Repeatable } else { RetryClass::Once }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::envelope::Id;
    use crate::protocol::json::Raw;

    fn class(retry_policy: &RetryPolicy, tool: &str) -> RetryClass {
        let definition =
            serde_json::json!({ "name": "read", "annotations": { "readOnlyHint": true } });
        let traits = ToolTraits::of(&[Raw::of(&definition)]);
        let params = Raw::of(&serde_json::json!({ "name": tool }));
        retry_policy.class(&Request::new(Id::number(1), "tools/call", Some(params)), Some(&traits))
    }

    #[test]
    fn a_tool_is_repeatable_only_if_the_user_says_so_or_trusts_the_server() {
        let none = RetryPolicy::default();
        let trusting = RetryPolicy { trust_annotations: true, ..RetryPolicy::default() };
        let declared = RetryPolicy { safe_tools: vec!["write".into()], ..RetryPolicy::default() };
        assert_eq!(class(&none, "read"), RetryClass::Once);
        assert_eq!(class(&trusting, "read"), RetryClass::Repeatable);
        assert_eq!(class(&trusting, "write"), RetryClass::Once);
        assert_eq!(class(&declared, "write"), RetryClass::Repeatable);
    }

    #[test]
    fn a_tool_call_and_an_unknown_method_are_sent_at_most_once() {
        assert_eq!(RetryClass::of("tools/call"), RetryClass::Once);
        assert_eq!(RetryClass::of("vendor/erase"), RetryClass::Once);
        assert_eq!(RetryClass::of("tasks/update"), RetryClass::Once);
        for repeatable in ["resources/read", "tasks/list", "subscriptions/listen", "tools/list"] {
            assert_eq!(RetryClass::of(repeatable), RetryClass::Repeatable);
        }
    }

    #[test]
    fn a_request_with_the_users_answers_is_sent_at_most_once() {
        let declared = RetryPolicy { safe_tools: vec!["write".into()], ..RetryPolicy::default() };
        let params = serde_json::json!({ "name": "write", "inputResponses": {} });
        for called in ["tools/call", "prompts/get", "resources/read"] {
            let request = Request::new(Id::number(1), called, Some(Raw::of(&params)));
            assert_eq!(declared.class(&request, None), RetryClass::Once, "{called}");
        }
    }
}
