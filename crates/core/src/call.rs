//! What may be sent again when nobody knows whether it ran.

use crate::protocol::method;

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
            method::TOOLS_LIST,
            method::PROMPTS_LIST,
            method::RESOURCES_LIST,
            method::TEMPLATES_LIST,
            method::RESOURCES_READ,
            method::PROMPTS_GET,
            "completion/complete",
            "tasks/get",
            "tasks/cancel",
            "logging/setLevel",
        ];
        if REPEATABLE.contains(&called) { Self::Repeatable } else { Self::Once }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_call_and_an_unknown_method_are_sent_at_most_once() {
        assert_eq!(Class::of("tools/call"), Class::Once);
        assert_eq!(Class::of("vendor/erase"), Class::Once);
        assert_eq!(Class::of("tasks/update"), Class::Once);
        assert_eq!(Class::of("resources/read"), Class::Repeatable);
    }
}
