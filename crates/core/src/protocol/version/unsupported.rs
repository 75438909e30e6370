//! The protocol version to use after a server rejected another.

use crate::protocol::json::Raw;

use super::ProtocolVersion;
use crate::protocol::translate::response::{UNSUPPORTED_VERSION, code};

/// The newest version that both sides support, from the error of a server that does not support the
/// requested one. `None` if the error is another one, or if no version is common to both.
pub fn newest_common_version(error: &Raw) -> Option<ProtocolVersion> {
    if code(error) != Some(i64::from(UNSUPPORTED_VERSION)) {
        return None;
    }
    let listed: Vec<String> = error.member("data")?.member("supported")?.read().ok()?;
    let is_listed = |protocol_version: &ProtocolVersion| {
        listed.iter().any(|revision| revision == protocol_version.as_str())
    };
    ProtocolVersion::ALL.into_iter().rev().find(is_listed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::mcp::SessionVersion;
    use serde_json::{Value, json};

    fn instead(code: i64, data: Value) -> Option<ProtocolVersion> {
        newest_common_version(&Raw::of(&json!({ "code": code, "message": "no", "data": data })))
    }

    #[test]
    fn the_newest_common_version_is_chosen() {
        let listed = |revisions: &[&str]| instead(-32022, json!({ "supported": revisions }));
        assert_eq!(
            listed(&["2025-11-25", "2026-07-28", "2031-01-01"]),
            Some(ProtocolVersion::Stateless)
        );
        let older = Some(ProtocolVersion::Session(SessionVersion::V2025_06_18));
        assert_eq!(listed(&["2024-11-05", "2025-06-18"]), older);
        assert_eq!(listed(&["2031-01-01"]), None);
        assert_eq!(listed(&[]), None);
    }

    #[test]
    fn another_error_says_nothing_about_versions() {
        let data = json!({ "supported": ["2026-07-28"] });
        assert_eq!(instead(-32601, data), None);
        assert_eq!(instead(-32022, json!({ "supported": "2026-07-28" })), None);
        assert_eq!(instead(-32022, Value::Null), None);
    }
}
