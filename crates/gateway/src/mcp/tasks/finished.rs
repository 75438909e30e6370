//! Tasks that the gateway creates for an editor that asked for one when its upstream made none.
//!
//! The call has already completed when the task is created, so only its result is kept, in memory
//! and for a limited time. After a restart of the gateway, a request for the result is told that
//! the call ran.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use evermoor_core::protocol::envelope::{INVALID_PARAMS, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::translate::task;
use evermoor_core::protocol::translate::task::related;
use evermoor_platform::clock;

use crate::system::keys;

#[derive(Clone, Default)]
pub struct FinishedTasks(Arc<Mutex<VecDeque<FinishedTask>>>);

struct FinishedTask {
    id: String,
    editor: String,
    state: Raw,
    result: Raw,
    since: Instant,
}

/// The prefix of these task ids.
const ID_PREFIX: &str = "evermoor-task-";
const RETENTION: Duration = Duration::from_secs(600);
const MAX_TASKS: usize = 256;

impl FinishedTasks {
    /// Keeps a result and returns the task it belongs to.
    pub fn keep(&self, editor: &str, result: Raw) -> Option<Raw> {
        let id = format!("{ID_PREFIX}{}", keys::random_token().ok()?);
        let state = task::over(&id, clock::now(), RETENTION);
        let created = Raw::of(&serde_json::json!({})).with("task", &state);
        let (editor, since) = (editor.to_owned(), Instant::now());
        let mut all = self.0.lock();
        all.retain(|task| task.since.elapsed() < RETENTION);
        all.push_back(FinishedTask { id, editor, state, result, since });
        while all.len() > MAX_TASKS {
            all.pop_front();
        }
        Some(created)
    }

    /// Answers a request about such a task; `None` if it is about any other task.
    pub fn answer(&self, editor: &str, request: &Request) -> Option<Response> {
        let about = request.params.as_ref()?.text_member("taskId")?;
        if !about.starts_with(ID_PREFIX) || !request.method.starts_with("tasks/") {
            return None;
        }
        let id = request.id.clone();
        let all = self.0.lock();
        let task = all.iter().find(|task| task.id == about && task.editor == editor);
        let Some(task) = task.filter(|task| task.since.elapsed() < RETENTION) else {
            let why = "The call for this task completed, but its result is no longer kept.";
            return Some(Response::error(Some(id), INVALID_PARAMS, why));
        };
        Some(match request.method.as_str() {
            method::TASKS_GET => Response::result(id, task.state.clone()),
            method::TASKS_RESULT => Response::result(id, related(&task.result, &Raw::of(&about))),
            _ => Response::error(Some(id), INVALID_PARAMS, "The task has already completed."),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::protocol::envelope::{Id, Outcome};

    fn ask(method: &str, task: &str) -> Request {
        let params = Raw::of(&serde_json::json!({ "taskId": task }));
        Request::new(Id::number(1), method, Some(params))
    }

    fn result(response: Option<Response>) -> Option<serde_json::Value> {
        match response.unwrap().outcome {
            Outcome::Result(result) => Some(result.read().unwrap()),
            Outcome::Error(_) => None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_result_is_kept_for_its_editor_for_a_limited_time() {
        let finished = FinishedTasks::default();
        let content = Raw::of(&serde_json::json!({ "content": [] }));
        let task = finished.keep("claude", content).unwrap().member("task").unwrap();
        let id = task.text_member("taskId").unwrap();
        let got = result(finished.answer("claude", &ask("tasks/get", &id))).unwrap();
        assert_eq!(got["status"], "completed");
        let end = result(finished.answer("claude", &ask("tasks/result", &id))).unwrap();
        assert_eq!(end["content"], serde_json::json!([]));
        assert_eq!(result(finished.answer("cursor", &ask("tasks/get", &id))), None);
        assert!(finished.answer("claude", &ask("tasks/get", "theirs")).is_none());
        tokio::time::advance(RETENTION).await;
        assert_eq!(result(finished.answer("claude", &ask("tasks/result", &id))), None);
    }
}
