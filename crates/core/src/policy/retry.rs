//! What may be sent again when nobody knows whether it ran.

use crate::catalog::tool_traits::Traits;
use crate::protocol::envelope::Request;
use crate::protocol::mcp::method;

/// Whether a repetition can do harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Asking twice is like asking once.
    Repeatable,
    /// It may change the world, so it is sent at most once.
    Once,
}

impl Class {
    /// The class of a method. What is not known to be harmless is not.
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
        let harmless = REPEATABLE.contains(&called)
            || called == method::TEMPLATES_LIST
            || called.ends_with("/list");
        if harmless { Self::Repeatable } else { Self::Once }
    }
}

/// Which tools of an upstream may be called twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repetition {
    /// Whether the upstream is believed when it says so.
    pub trust_annotations: bool,
    /// Tools of which a person said so.
    pub safe_tools: Vec<String>,
}

impl Repetition {
    /// The class of a request. A tool call may be repeated if a person said so, or if the upstream
    /// did and is believed; never one that carries a person's answers.
    pub fn class(&self, request: &Request, traits: Option<&Traits>) -> Class {
        let params = request.params.as_ref();
        if params.is_some_and(|params| params.member("inputResponses").is_some()) {
            return Class::Once;
        }
        if request.method != method::TOOLS_CALL {
            return Class::of(&request.method);
        }
        let Some(params) = params else { return Class::Once };
        let name = params.text_member("name").unwrap_or_default();
        let declared =
            self.trust_annotations && traits.is_some_and(|traits| traits.is_repeatable(&name));
        let harmless = declared || self.safe_tools.contains(&name);
        if harmless { Class::Repeatable } else { Class::Once }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::envelope::Id;
    use crate::protocol::json::Raw;

    fn class(repetition: &Repetition, tool: &str) -> Class {
        let definition =
            serde_json::json!({ "name": "read", "annotations": { "readOnlyHint": true } });
        let traits = Traits::of(&[Raw::of(&definition)]);
        let params = Raw::of(&serde_json::json!({ "name": tool }));
        repetition.class(&Request::new(Id::number(1), "tools/call", Some(params)), Some(&traits))
    }

    #[test]
    fn a_tool_may_be_repeated_only_if_a_person_says_so_or_trusts_its_server() {
        let none = Repetition::default();
        let trusting = Repetition { trust_annotations: true, ..Repetition::default() };
        let told = Repetition { safe_tools: vec!["write".into()], ..Repetition::default() };
        assert_eq!(class(&none, "read"), Class::Once);
        assert_eq!(class(&trusting, "read"), Class::Repeatable);
        assert_eq!(class(&trusting, "write"), Class::Once);
        assert_eq!(class(&told, "write"), Class::Repeatable);
    }

    #[test]
    fn a_tool_call_and_an_unknown_method_are_sent_at_most_once() {
        assert_eq!(Class::of("tools/call"), Class::Once);
        assert_eq!(Class::of("vendor/erase"), Class::Once);
        assert_eq!(Class::of("tasks/update"), Class::Once);
        for harmless in ["resources/read", "tasks/list", "subscriptions/listen", "tools/list"] {
            assert_eq!(Class::of(harmless), Class::Repeatable);
        }
    }

    #[test]
    fn what_carries_a_persons_answers_is_sent_at_most_once_whatever_it_is() {
        let told = Repetition { safe_tools: vec!["write".into()], ..Repetition::default() };
        let params = serde_json::json!({ "name": "write", "inputResponses": {} });
        for called in ["tools/call", "prompts/get", "resources/read"] {
            let request = Request::new(Id::number(1), called, Some(Raw::of(&params)));
            assert_eq!(told.class(&request, None), Class::Once, "{called}");
        }
    }
}
