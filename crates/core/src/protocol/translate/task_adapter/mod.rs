//! A request about a task that an upstream of the other era is asked for in several steps.
//!
//! It is told what the upstream answered, and says what to do next: ask again, now or later, have the
//! editor asked, or be done.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::protocol::envelope::{Id, Outcome, Request};
use crate::protocol::json::Raw;
use crate::protocol::mcp::method;

use super::response::unmarked;
use super::task::{self, newer, nothing, older, related};
use crate::protocol::version::Spoken;

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// This is the answer, in the editor's words.
    Done(Outcome),
    /// The upstream made no task of the call and has finished it with this result.
    Finished(Raw),
    /// The upstream is asked this, after so long.
    Ask(Duration, Request),
    /// The editor is asked these (an object of requests by name); the answers go into the request.
    Input(Raw, Request),
}

/// A request under way.
#[derive(Clone, Debug)]
pub struct Errand {
    kind: Kind,
    /// The task's id as it was written, once there is one.
    id: Raw,
    /// Questions that the editor has answered.
    answered: BTreeSet<String>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// For an editor of 2025-11-25.
    CreateForOlder,
    GetForOlder,
    ResultForOlder,
    CancelForOlder,
    /// For an editor of 2026-07-28.
    CreateForNewer,
    GetForNewer,
    /// The task is over, or waits for its editor; this is its state.
    ResultForNewer(Raw),
    CancelForNewer,
}

const SHORTEST_PAUSE: u64 = 20;
const LONGEST_PAUSE: u64 = 5_000;
const PAUSE: u64 = 500;
const INTERNAL: i32 = -32603;

impl Errand {
    /// The errand that a request of an editor is to an upstream of the other era, and its first step.
    /// `makes_tasks`: whether a tool call is to become a task.
    pub fn of(
        request: &Request,
        editor: Spoken,
        upstream: Spoken,
        makes_tasks: bool,
    ) -> Option<(Self, Request)> {
        let params = request.params.clone().unwrap_or_else(nothing);
        let called = request.method.as_str();
        let own = || params.member("taskId");
        let (kind, id, params, asked) = match (editor.is_stateless(), upstream.is_stateless()) {
            (false, true) => match called {
                method::TOOLS_CALL if makes_tasks => {
                    (Kind::CreateForOlder, nothing(), params.without(&["task"]), called)
                }
                method::TASKS_GET => (Kind::GetForOlder, own()?, params, called),
                method::TASKS_RESULT => (Kind::ResultForOlder, own()?, params, method::TASKS_GET),
                method::TASKS_CANCEL => (Kind::CancelForOlder, own()?, params, called),
                _ => return None,
            },
            (true, false) => match called {
                method::TOOLS_CALL if makes_tasks => {
                    (Kind::CreateForNewer, nothing(), params.with("task", &nothing()), called)
                }
                method::TASKS_GET => (Kind::GetForNewer, own()?, params, called),
                method::TASKS_CANCEL => (Kind::CancelForNewer, own()?, params, called),
                _ => return None,
            },
            (false, false) | (true, true) => return None,
        };
        let first = Request { method: asked.to_owned(), params: Some(params), ..request.clone() };
        Some((Self { kind, id, answered: BTreeSet::new() }, first))
    }

    /// What to do after the upstream answered the last request.
    pub fn next(&mut self, outcome: Outcome) -> Step {
        let result = match (&self.kind, outcome) {
            (Kind::ResultForNewer(task), outcome) => return Step::Done(ended(task, outcome)),
            (_, Outcome::Error(error)) => return Step::Done(Outcome::Error(error)),
            (_, Outcome::Result(result)) => result,
        };
        match &self.kind {
            Kind::CreateForOlder => match result.text_member("resultType").as_deref() {
                Some("task") => done(nothing().with("task", &older(&result))),
                Some(_) | None => Step::Finished(unmarked(&result)),
            },
            Kind::GetForOlder => done(older(&result)),
            Kind::ResultForOlder => self.outcome(&result),
            Kind::CancelForOlder => {
                self.kind = Kind::GetForOlder;
                Step::Ask(Duration::ZERO, self.ask(method::TASKS_GET))
            }
            Kind::CreateForNewer => match result.member("task") {
                Some(task) => done(newer(&task).with("resultType", &Raw::of("task"))),
                None => done(result),
            },
            Kind::GetForNewer => match status(&result).as_str() {
                "completed" | "failed" | "input_required" => {
                    self.kind = Kind::ResultForNewer(newer(&result));
                    Step::Ask(Duration::ZERO, self.ask(method::TASKS_RESULT))
                }
                _ => done(newer(&result)),
            },
            Kind::CancelForNewer => done(nothing()),
            Kind::ResultForNewer(_) => done(result),
        }
    }

    /// The state of a task that waits for its editor, if that is what it waits for. `needed` is an
    /// object of requests by name.
    pub fn waiting(&self, needed: &Raw) -> Option<Raw> {
        let Kind::ResultForNewer(task) = &self.kind else { return None };
        let waits = task.with("status", &Raw::of("input_required"));
        Some(waits.with("inputRequests", needed))
    }

    /// The id of the task it is about.
    pub fn id(&self) -> &Raw {
        &self.id
    }

    /// The end of a task of the newer revision, or what to do until then.
    fn outcome(&mut self, task: &Raw) -> Step {
        let poll = |errand: &Self| Step::Ask(pause(task), errand.ask(method::TASKS_GET));
        match status(task).as_str() {
            "completed" => {
                let result = task.member("result").unwrap_or_else(nothing);
                done(related(&unmarked(&result), &self.id))
            }
            "failed" => Step::Done(Outcome::Error(
                task.member("error")
                    .unwrap_or_else(|| error("The task failed and does not say why.")),
            )),
            "cancelled" => Step::Done(Outcome::Error(error("The task was cancelled."))),
            "input_required" => {
                let needed = task.member("inputRequests").and_then(|all| all.entries());
                let new: Vec<(String, Raw)> = needed
                    .unwrap_or_default()
                    .into_iter()
                    .filter(|(key, _)| !self.answered.contains(key))
                    .collect();
                if new.is_empty() {
                    // What was said may not have reached the task yet.
                    return poll(self);
                }
                self.answered.extend(new.iter().map(|(key, _)| key.clone()));
                let needed = new.iter().fold(nothing(), |all, (key, one)| all.with(key, one));
                Step::Input(needed, self.ask(method::TASKS_UPDATE))
            }
            // It works, or the upstream acknowledged what was said.
            _ => poll(self),
        }
    }

    fn ask(&self, called: &str) -> Request {
        Request::new(Id::number(0), called, Some(nothing().with("taskId", &self.id)))
    }
}

/// The state of a task with what its upstream says is its end.
fn ended(task: &Raw, outcome: Outcome) -> Outcome {
    let told = match outcome {
        Outcome::Result(result) => {
            task.with("status", &Raw::of("completed")).with("result", &unrelated(&result))
        }
        Outcome::Error(error) => task.with("status", &Raw::of("failed")).with("error", &error),
    };
    Outcome::Result(told)
}

/// The newer revision says nowhere in a result which task it is of.
fn unrelated(result: &Raw) -> Raw {
    match result.member("_meta").map(|said| said.without(&[task::RELATED])) {
        Some(rest) if rest.as_str() == "{}" => result.without(&["_meta"]),
        Some(rest) => result.with("_meta", &rest),
        None => result.clone(),
    }
}

fn status(task: &Raw) -> String {
    task.text_member("status").unwrap_or_default()
}

/// How long the upstream wants to be left alone.
fn pause(task: &Raw) -> Duration {
    let asked = task.member("pollIntervalMs").and_then(|pause| pause.read().ok());
    Duration::from_millis(asked.unwrap_or(PAUSE).clamp(SHORTEST_PAUSE, LONGEST_PAUSE))
}

fn done(result: Raw) -> Step {
    Step::Done(Outcome::Result(result))
}

fn error(words: &str) -> Raw {
    Raw::of(&serde_json::json!({ "code": INTERNAL, "message": words }))
}

#[cfg(test)]
mod tests;
