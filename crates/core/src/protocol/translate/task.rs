//! Tasks: work that continues after the response to its call.
//!
//! In 2025-11-25 the client asks for a task and fetches its result with a blocking request. In the
//! extension of 2026-07-28 the server decides, and the result comes with the status. A
//! [`TaskAdapter`](super::task_adapter::TaskAdapter) handles what needs several requests to the
//! upstream. Task ids are the upstream's, so they stay valid after a restart of the gateway.

use std::time::{Duration, SystemTime};

use crate::protocol::json::Raw;
use crate::protocol::mcp::SessionVersion;

use crate::protocol::version::ProtocolVersion;

/// The name of the extension.
pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// The `_meta` key with the task of a result, in 2025-11-25.
pub const RELATED: &str = "io.modelcontextprotocol/related-task";

/// Whether capabilities of 2026-07-28, of a client or a server, declare the extension.
pub fn is_declared(capabilities: &Raw) -> bool {
    capabilities.member("extensions").is_some_and(|all| all.member(EXTENSION).is_some())
}

/// Whether a server with these capabilities can turn tool calls into tasks.
pub fn is_offered(capabilities: &Raw, protocol_version: ProtocolVersion) -> bool {
    match protocol_version {
        ProtocolVersion::Stateless => is_declared(capabilities),
        ProtocolVersion::Session(_) => {
            let calls = || capabilities.member("tasks")?.member("requests")?.member("tools");
            calls().is_some_and(|tools| tools.member("call").is_some())
        }
    }
}

/// The capabilities with the extension declared.
pub fn declared(capabilities: &Raw) -> Raw {
    let extensions = capabilities.member("extensions").unwrap_or_else(empty);
    capabilities.with("extensions", &extensions.with(EXTENSION, &empty()))
}

/// Translates the capabilities of a server for an editor of version `to`.
pub(super) fn translate_capabilities(
    capabilities: &Raw,
    from: ProtocolVersion,
    to: ProtocolVersion,
) -> Raw {
    let offered = is_offered(capabilities, from);
    match (from, to) {
        (ProtocolVersion::Session(_), ProtocolVersion::Stateless) => {
            let rest = capabilities.without(&["tasks"]);
            if offered { declared(&rest) } else { rest }
        }
        (ProtocolVersion::Stateless, ProtocolVersion::Session(_))
            if offered && to.knows(SessionVersion::V2025_11_25) =>
        {
            let tasks =
                serde_json::json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
            capabilities.with("tasks", &Raw::of(&tasks))
        }
        _ => capabilities.clone(),
    }
}

/// Marks every tool of a newer server with tasks as possible task, for an editor of 2025-11-25.
pub fn supported(tools: &Raw) -> Option<Raw> {
    let all = tools.member("tools")?.elements()?;
    let marked: Vec<Raw> = all
        .iter()
        .map(|tool| {
            let execution = tool.member("execution").unwrap_or_else(empty);
            tool.with("execution", &execution.with("taskSupport", &Raw::of("optional")))
        })
        .collect();
    Some(tools.with("tools", &Raw::of(&marked)))
}

/// Translates a task of 2026-07-28 to 2025-11-25.
pub fn older(task: &Raw) -> Raw {
    let null = Raw::of(&serde_json::Value::Null);
    let ttl = task.member("ttlMs").unwrap_or(null);
    let translated = copied(task).with("ttl", &ttl);
    match task.member("pollIntervalMs") {
        Some(interval) => translated.with("pollInterval", &interval),
        None => translated,
    }
}

/// Translates a task of 2025-11-25 to 2026-07-28.
pub fn newer(task: &Raw) -> Raw {
    let null = Raw::of(&serde_json::Value::Null);
    let ttl = task.member("ttl").unwrap_or(null);
    let translated = copied(task).with("ttlMs", &ttl);
    match task.member("pollInterval") {
        Some(interval) => translated.with("pollIntervalMs", &interval),
        None => translated,
    }
}

/// The members that have the same name in both.
fn copied(task: &Raw) -> Raw {
    ["taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt"]
        .into_iter()
        .filter_map(|key| Some((key, task.member(key)?)))
        .fold(empty(), |copy, (key, value)| copy.with(key, &value))
}

/// The result with its task id in `_meta`.
pub fn related(result: &Raw, id: &Raw) -> Raw {
    let meta = result.member("_meta").unwrap_or_else(empty);
    let task = empty().with("taskId", id);
    result.with("_meta", &meta.with(RELATED, &task))
}

/// A task of 2025-11-25 that was already completed when it was created.
pub fn over(id: &str, at: SystemTime, kept_for: Duration) -> Raw {
    let at = humantime::format_rfc3339_millis(at).to_string();
    Raw::of(&serde_json::json!({
        "taskId": id,
        "status": "completed",
        "createdAt": at,
        "lastUpdatedAt": at,
        "ttl": u64::try_from(kept_for.as_millis()).unwrap_or(u64::MAX),
    }))
}

pub(super) fn empty() -> Raw {
    Raw::of(&serde_json::json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const OLD: ProtocolVersion = ProtocolVersion::Session(SessionVersion::V2025_11_25);

    #[test]
    fn capabilities_are_translated_in_both_directions() {
        let older = Raw::of(
            &json!({ "tools": {}, "tasks": { "list": {}, "requests": { "tools": { "call": {} } } } }),
        );
        let shown: Value =
            translate_capabilities(&older, OLD, ProtocolVersion::Stateless).read().unwrap();
        assert_eq!(shown, json!({ "tools": {}, "extensions": { EXTENSION: {} } }));
        let newer = Raw::of(&json!({ "tools": {}, "extensions": { EXTENSION: {}, "x": 1 } }));
        let shown: Value =
            translate_capabilities(&newer, ProtocolVersion::Stateless, OLD).read().unwrap();
        assert_eq!(shown["tasks"]["requests"]["tools"]["call"], json!({}));
        assert_eq!(shown["tasks"]["list"], Value::Null);
        let june = ProtocolVersion::Session(SessionVersion::V2025_06_18);
        assert_eq!(translate_capabilities(&newer, ProtocolVersion::Stateless, june), newer);
        let none = Raw::of(&json!({ "tools": {}, "tasks": {} }));
        let shown: Value =
            translate_capabilities(&none, OLD, ProtocolVersion::Stateless).read().unwrap();
        assert_eq!(shown, json!({ "tools": {} }));
    }

    #[test]
    fn declared_tasks_are_recognised() {
        let declared = declared(&Raw::of(&json!({ "roots": {} })));
        assert!(is_declared(&declared) && !is_declared(&Raw::of(&json!({ "roots": {} }))));
    }

    #[test]
    fn a_result_names_its_task() {
        let result = related(&Raw::of(&json!({ "content": [] })), &Raw::of("t1"));
        let result: Value = result.read().unwrap();
        assert_eq!(result["_meta"][RELATED]["taskId"], "t1");
    }

    proptest! {
        #[test]
        fn a_task_translated_there_and_back_is_unchanged(
            id: String, message in prop::option::of(any::<String>()), ttl in prop::option::of(any::<u32>()),
            interval in prop::option::of(any::<u32>()),
        ) {
            let mut task = json!({ "taskId": id, "status": "working", "createdAt": "a", "lastUpdatedAt": "b", "ttl": ttl });
            if let Some(message) = message {
                task["statusMessage"] = message.into();
            }
            if let Some(interval) = interval {
                task["pollInterval"] = interval.into();
            }
            let back: Value = older(&newer(&Raw::of(&task))).read().unwrap();
            prop_assert_eq!(back, task);
        }
    }
}
