//! Tasks: work that goes on after its call was answered, in the words of the two eras that know it.
//!
//! In 2025-11-25 the editor asks for a task and fetches its result with a request that waits. In the
//! extension of 2026-07-28 the server decides, and the result comes with the state. What needs more
//! than one request to the upstream is an [`Errand`](super::task_adapter::Errand). The id of a task is the
//! upstream's own, so that it is as good after a restart of the gateway.

use std::time::{Duration, SystemTime};

use crate::protocol::json::Raw;
use crate::protocol::mcp::Revision;

use crate::protocol::version::Spoken;

/// The name of the extension.
pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// Under which a result says which task it is of, in 2025-11-25.
pub const RELATED: &str = "io.modelcontextprotocol/related-task";

/// Whether capabilities of 2026-07-28, of either side, speak of the extension.
pub fn is_declared(capabilities: &Raw) -> bool {
    capabilities.member("extensions").is_some_and(|all| all.member(EXTENSION).is_some())
}

/// Whether a server whose capabilities these are makes tasks of tool calls.
pub fn is_offered(capabilities: &Raw, spoken: Spoken) -> bool {
    match spoken {
        Spoken::Stateless => is_declared(capabilities),
        Spoken::Session(_) => {
            let calls = || capabilities.member("tasks")?.member("requests")?.member("tools");
            calls().is_some_and(|tools| tools.member("call").is_some())
        }
    }
}

/// Capabilities of a client that can follow tasks.
pub fn declared(capabilities: &Raw) -> Raw {
    let extensions = capabilities.member("extensions").unwrap_or_else(nothing);
    capabilities.with("extensions", &extensions.with(EXTENSION, &nothing()))
}

/// Capabilities of a server for an editor of either era.
pub fn introduced(capabilities: &Raw, from: Spoken, to: Spoken) -> Raw {
    let offered = is_offered(capabilities, from);
    match (from, to) {
        (Spoken::Session(_), Spoken::Stateless) => {
            let rest = capabilities.without(&["tasks"]);
            if offered { declared(&rest) } else { rest }
        }
        (Spoken::Stateless, Spoken::Session(_)) if offered && to.knows(Revision::V2025_11_25) => {
            let tasks =
                serde_json::json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
            capabilities.with("tasks", &Raw::of(&tasks))
        }
        _ => capabilities.clone(),
    }
}

/// The tools of a newer server that makes tasks, for an editor of 2025-11-25: each may become one.
pub fn supported(tools: &Raw) -> Option<Raw> {
    let offered = tools.member("tools")?.elements()?;
    let marked: Vec<Raw> = offered
        .iter()
        .map(|tool| {
            let execution = tool.member("execution").unwrap_or_else(nothing);
            tool.with("execution", &execution.with("taskSupport", &Raw::of("optional")))
        })
        .collect();
    Some(tools.with("tools", &Raw::of(&marked)))
}

/// A task of 2026-07-28 in the words of 2025-11-25.
pub fn older(task: &Raw) -> Raw {
    let null = Raw::of(&serde_json::Value::Null);
    let ttl = task.member("ttlMs").unwrap_or(null);
    let told = copied(task).with("ttl", &ttl);
    match task.member("pollIntervalMs") {
        Some(pause) => told.with("pollInterval", &pause),
        None => told,
    }
}

/// A task of 2025-11-25 in the words of 2026-07-28.
pub fn newer(task: &Raw) -> Raw {
    let null = Raw::of(&serde_json::Value::Null);
    let ttl = task.member("ttl").unwrap_or(null);
    let told = copied(task).with("ttlMs", &ttl);
    match task.member("pollInterval") {
        Some(pause) => told.with("pollIntervalMs", &pause),
        None => told,
    }
}

/// What both call the same.
fn copied(task: &Raw) -> Raw {
    ["taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt"]
        .into_iter()
        .filter_map(|key| Some((key, task.member(key)?)))
        .fold(nothing(), |told, (key, value)| told.with(key, &value))
}

/// A result with the name of its task.
pub fn related(result: &Raw, id: &Raw) -> Raw {
    let said = result.member("_meta").unwrap_or_else(nothing);
    let task = nothing().with("taskId", id);
    result.with("_meta", &said.with(RELATED, &task))
}

/// A task of 2025-11-25 that was over when it was made.
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

pub(super) fn nothing() -> Raw {
    Raw::of(&serde_json::json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const OLD: Spoken = Spoken::Session(Revision::V2025_11_25);

    #[test]
    fn each_era_is_offered_tasks_in_its_own_words() {
        let older = Raw::of(
            &json!({ "tools": {}, "tasks": { "list": {}, "requests": { "tools": { "call": {} } } } }),
        );
        let shown: Value = introduced(&older, OLD, Spoken::Stateless).read().unwrap();
        assert_eq!(shown, json!({ "tools": {}, "extensions": { EXTENSION: {} } }));
        let newer = Raw::of(&json!({ "tools": {}, "extensions": { EXTENSION: {}, "x": 1 } }));
        let shown: Value = introduced(&newer, Spoken::Stateless, OLD).read().unwrap();
        assert_eq!(shown["tasks"]["requests"]["tools"]["call"], json!({}));
        assert_eq!(shown["tasks"]["list"], Value::Null);
        let june = Spoken::Session(Revision::V2025_06_18);
        assert_eq!(introduced(&newer, Spoken::Stateless, june), newer);
        let none = Raw::of(&json!({ "tools": {}, "tasks": {} }));
        let shown: Value = introduced(&none, OLD, Spoken::Stateless).read().unwrap();
        assert_eq!(shown, json!({ "tools": {} }));
    }

    #[test]
    fn who_declares_tasks_is_heard() {
        let declared = declared(&Raw::of(&json!({ "roots": {} })));
        assert!(is_declared(&declared) && !is_declared(&Raw::of(&json!({ "roots": {} }))));
    }

    #[test]
    fn a_result_says_which_task_it_is_of() {
        let result = related(&Raw::of(&json!({ "content": [] })), &Raw::of("t1"));
        let result: Value = result.read().unwrap();
        assert_eq!(result["_meta"][RELATED]["taskId"], "t1");
    }

    proptest! {
        #[test]
        fn a_task_keeps_what_it_says_on_the_way_there_and_back(
            id: String, said in prop::option::of(any::<String>()), ttl in prop::option::of(any::<u32>()),
            pause in prop::option::of(any::<u32>()),
        ) {
            let mut task = json!({ "taskId": id, "status": "working", "createdAt": "a", "lastUpdatedAt": "b", "ttl": ttl });
            if let Some(said) = said {
                task["statusMessage"] = said.into();
            }
            if let Some(pause) = pause {
                task["pollInterval"] = pause.into();
            }
            let back: Value = older(&newer(&Raw::of(&task))).read().unwrap();
            prop_assert_eq!(back, task);
        }
    }
}
