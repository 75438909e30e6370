//! The levels of log messages.

use crate::protocol::envelope::Notification;

/// MCP's log levels, from the least to the most severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoggingLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LoggingLevel {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Debug, "debug"),
        (Self::Info, "info"),
        (Self::Notice, "notice"),
        (Self::Warning, "warning"),
        (Self::Error, "error"),
        (Self::Critical, "critical"),
        (Self::Alert, "alert"),
        (Self::Emergency, "emergency"),
    ];

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(level, _)| level)
    }

    pub fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find(|(level, _)| *level == self).map_or("info", |(_, name)| name)
    }

    /// Whether a client with this minimum level gets the message. A message without a known level
    /// always passes.
    pub fn passes(self, message: &Notification) -> bool {
        let level = message.params.as_ref().and_then(|params| params.text_member("level"));
        level.as_deref().and_then(Self::parse).is_none_or(|level| level >= self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::json::Raw;

    #[test]
    fn a_level_includes_itself_and_more_severe_ones() {
        let message = |level: &str| {
            let params = Raw::of(&serde_json::json!({ "level": level, "data": "x" }));
            Notification::new("notifications/message", Some(params))
        };
        assert!(LoggingLevel::Warning.passes(&message("warning")));
        assert!(LoggingLevel::Warning.passes(&message("error")));
        assert!(!LoggingLevel::Warning.passes(&message("notice")));
        assert!(LoggingLevel::Emergency.passes(&message("unknown")));
        for (level, name) in LoggingLevel::ALL {
            assert_eq!((LoggingLevel::parse(name), level.as_str()), (Some(level), name));
        }
    }
}
