//! Task requests that take several requests to an upstream of another version.
//!
//! The adapter takes each response of the upstream and returns the next step: send another request,
//! now or later, ask the editor for input, or finish.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::protocol::envelope::{Id, Outcome, Request};
use crate::protocol::json::Raw;
use crate::protocol::mcp::method;

use super::response::without_newer_members;
use super::task::{self, empty, newer, older, related};
use crate::protocol::version::ProtocolVersion;

/// The next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskStep {
    /// The response, translated for the editor.
    Done(Outcome),
    /// The upstream did not create a task; the call is complete with this result.
    Finished(Raw),
    /// Send this request to the upstream after this time.
    Ask(Duration, Request),
    /// Ask the editor for input (an object of requests by key) and send its answers in the request.
    Input(Raw, Request),
}

/// A task request in progress.
#[derive(Clone, Debug)]
pub struct TaskAdapter {
    kind: TaskRequestKind,
    /// The id of the task; empty until the task exists.
    id: Raw,
    /// The keys of the input that the editor has already given.
    answered: BTreeSet<String>,
}

#[derive(Clone, Debug)]
enum TaskRequestKind {
    /// For an editor of 2025-11-25.
    CreateForOlder,
    GetForOlder,
    ResultForOlder,
    CancelForOlder,
    /// For an editor of 2026-07-28.
    CreateForNewer,
    GetForNewer,
    /// The task ended or needs input; this is its status.
    ResultForNewer(Raw),
    CancelForNewer,
}

/// Bounds and default of the time between two polls, in milliseconds.
const MIN_POLL_INTERVAL: u64 = 20;
const MAX_POLL_INTERVAL: u64 = 5_000;
const POLL_INTERVAL: u64 = 500;
const INTERNAL_ERROR: i32 = -32603;

impl TaskAdapter {
    /// An adapter for a request of an editor, with the first request to the upstream. `None` if the
    /// request needs none. `makes_tasks` says whether a tool call becomes a task.
    pub fn of(
        request: &Request,
        editor: ProtocolVersion,
        upstream: ProtocolVersion,
        makes_tasks: bool,
    ) -> Option<(Self, Request)> {
        let params = request.params.clone().unwrap_or_default();
        let called = request.method.as_str();
        let id = || params.member("taskId");
        let (kind, id, params, asked) = match (editor.is_stateless(), upstream.is_stateless()) {
            (false, true) => match called {
                method::TOOLS_CALL if makes_tasks => {
                    (TaskRequestKind::CreateForOlder, empty(), params.without(&["task"]), called)
                }
                method::TASKS_GET => (TaskRequestKind::GetForOlder, id()?, params, called),
                method::TASKS_RESULT => {
                    (TaskRequestKind::ResultForOlder, id()?, params, method::TASKS_GET)
                }
                method::TASKS_CANCEL => (TaskRequestKind::CancelForOlder, id()?, params, called),
                _ => return None,
            },
            (true, false) => match called {
                method::TOOLS_CALL if makes_tasks => (
                    TaskRequestKind::CreateForNewer,
                    empty(),
                    params.with("task", &empty()),
                    called,
                ),
                method::TASKS_GET => (TaskRequestKind::GetForNewer, id()?, params, called),
                method::TASKS_CANCEL => (TaskRequestKind::CancelForNewer, id()?, params, called),
                _ => return None,
            },
            (false, false) | (true, true) => return None,
        };
        let first = Request { method: asked.to_owned(), params: Some(params), ..request.clone() };
        Some((Self { kind, id, answered: BTreeSet::new() }, first))
    }

    /// The step after the upstream's response to the last request.
    pub fn next(&mut self, outcome: Outcome) -> TaskStep {
        let result = match (&self.kind, outcome) {
            (TaskRequestKind::ResultForNewer(task), outcome) => {
                return TaskStep::Done(ended(task, outcome));
            }
            (_, Outcome::Error(error)) => return TaskStep::Done(Outcome::Error(error)),
            (_, Outcome::Result(result)) => result,
        };
        match &self.kind {
            TaskRequestKind::CreateForOlder => match result.text_member("resultType").as_deref() {
                Some("task") => done(empty().with("task", &older(&result))),
                Some(_) | None => TaskStep::Finished(without_newer_members(&result)),
            },
            TaskRequestKind::GetForOlder => done(older(&result)),
            TaskRequestKind::ResultForOlder => self.outcome(&result),
            TaskRequestKind::CancelForOlder => {
                self.kind = TaskRequestKind::GetForOlder;
                TaskStep::Ask(Duration::ZERO, self.request(method::TASKS_GET))
            }
            TaskRequestKind::CreateForNewer => match result.member("task") {
                Some(task) => done(newer(&task).with("resultType", &Raw::of("task"))),
                None => done(result),
            },
            TaskRequestKind::GetForNewer => match status(&result).as_str() {
                "completed" | "failed" | "input_required" => {
                    self.kind = TaskRequestKind::ResultForNewer(newer(&result));
                    TaskStep::Ask(Duration::ZERO, self.request(method::TASKS_RESULT))
                }
                _ => done(newer(&result)),
            },
            TaskRequestKind::CancelForNewer => done(empty()),
            TaskRequestKind::ResultForNewer(_) => done(result),
        }
    }

    /// The status of a task that needs input, if this request can report it. `needed` is an object of
    /// requests by key.
    pub fn waiting(&self, needed: &Raw) -> Option<Raw> {
        let TaskRequestKind::ResultForNewer(task) = &self.kind else { return None };
        let status = task.with("status", &Raw::of("input_required"));
        Some(status.with("inputRequests", needed))
    }

    /// The id of the task.
    pub fn id(&self) -> &Raw {
        &self.id
    }

    /// The outcome of a newer task, or the step until it ends.
    fn outcome(&mut self, task: &Raw) -> TaskStep {
        let poll =
            |adapter: &Self| TaskStep::Ask(poll_interval(task), adapter.request(method::TASKS_GET));
        match status(task).as_str() {
            "completed" => {
                let result = task.member("result").unwrap_or_else(empty);
                done(related(&without_newer_members(&result), &self.id))
            }
            "failed" => TaskStep::Done(Outcome::Error(
                task.member("error").unwrap_or_else(|| error("The task failed without a reason.")),
            )),
            "cancelled" => TaskStep::Done(Outcome::Error(error("The task was cancelled."))),
            "input_required" => {
                let needed = task.member("inputRequests").and_then(|all| all.entries());
                let new: Vec<(String, Raw)> = needed
                    .unwrap_or_default()
                    .into_iter()
                    .filter(|(key, _)| !self.answered.contains(key))
                    .collect();
                if new.is_empty() {
                    // The answers may not have reached the task yet.
                    return poll(self);
                }
                self.answered.extend(new.iter().map(|(key, _)| key.clone()));
                let needed = new.iter().fold(empty(), |all, (key, one)| all.with(key, one));
                TaskStep::Input(needed, self.request(method::TASKS_UPDATE))
            }
            // It is working, or the upstream acknowledged the answers.
            _ => poll(self),
        }
    }

    fn request(&self, called: &str) -> Request {
        Request::new(Id::number(0), called, Some(empty().with("taskId", &self.id)))
    }
}

/// The status of a task with its result or error.
fn ended(task: &Raw, outcome: Outcome) -> Outcome {
    let status = match outcome {
        Outcome::Result(result) => {
            task.with("status", &Raw::of("completed")).with("result", &without_task(&result))
        }
        Outcome::Error(error) => task.with("status", &Raw::of("failed")).with("error", &error),
    };
    Outcome::Result(status)
}

/// The result without its task id, which 2026-07-28 does not have.
fn without_task(result: &Raw) -> Raw {
    match result.member("_meta").map(|meta| meta.without(&[task::RELATED])) {
        Some(rest) if rest.as_str() == "{}" => result.without(&["_meta"]),
        Some(rest) => result.with("_meta", &rest),
        None => result.clone(),
    }
}

fn status(task: &Raw) -> String {
    task.text_member("status").unwrap_or_default()
}

/// How long to wait before polling a task again.
fn poll_interval(task: &Raw) -> Duration {
    let interval = task.member("pollIntervalMs").and_then(|interval| interval.read().ok());
    Duration::from_millis(
        interval.unwrap_or(POLL_INTERVAL).clamp(MIN_POLL_INTERVAL, MAX_POLL_INTERVAL),
    )
}

fn done(result: Raw) -> TaskStep {
    TaskStep::Done(Outcome::Result(result))
}

fn error(message: &str) -> Raw {
    Raw::of(&serde_json::json!({ "code": INTERNAL_ERROR, "message": message }))
}

#[cfg(test)]
mod tests;
