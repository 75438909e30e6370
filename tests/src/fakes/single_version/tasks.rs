//! Tasks, as in 2025-11-25 and in the extension of 2026-07-28.
//!
//! A task completes when the ledger releases its nonce. A task of `slow_ask` waits for its client
//! first.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::sleep;

use evermoor_core::protocol::envelope::{Outcome, Request};
use evermoor_core::protocol::mcp::{SessionVersion, method};
use evermoor_core::protocol::translate::task::{EXTENSION, RELATED};

use super::replies;
use super::replies::{client_capabilities, text};
use super::server::{MessageSender, SingleVersionServer};
use super::tools::form;

#[derive(Default)]
pub(super) struct Tasks(Mutex<BTreeMap<String, Task>>);

#[derive(Clone)]
struct Task {
    nonce: String,
    asks: bool,
    answer: Option<Value>,
    cancelled: bool,
}

const PAUSE: u64 = 20;

impl SingleVersionServer {
    /// The task for a call, if the call becomes one.
    pub(super) fn task_for(&self, name: &str, nonce: &str, params: &Value) -> Option<Value> {
        let wanted = match self.protocol_version.is_stateless() {
            true => client_capabilities(params)["extensions"].get(EXTENSION).is_some(),
            false => {
                params.get("task").is_some()
                    && self.protocol_version.knows(SessionVersion::V2025_11_25)
            }
        };
        if !wanted || !name.starts_with("slow") {
            return None;
        }
        // The id is the same in every process, as in a server that persists its tasks.
        let id = format!("task-{name}-{nonce}");
        let task =
            Task { nonce: nonce.into(), asks: name == "slow_ask", answer: None, cancelled: false };
        self.tasks.0.lock().insert(id.clone(), task);
        let state = self.state(&id)?;
        Some(match self.protocol_version.is_stateless() {
            true => with(state, "resultType", "task".into()),
            false => json!({ "task": state }),
        })
    }

    pub(super) async fn about_task(&self, request: &Request, messages: &MessageSender) -> Outcome {
        let params = replies::params(request);
        let id = params["taskId"].as_str().unwrap_or_default().to_owned();
        let Some(task) = self.tasks.0.lock().get(&id).cloned() else {
            return replies::error(-32602, "no such task");
        };
        let stateless = self.protocol_version.is_stateless();
        let done = |result: Value| Outcome::Result(self.formatted(&request.method, result));
        match request.method.as_str() {
            method::TASKS_GET => done(self.state(&id).unwrap_or_default()),
            method::TASKS_CANCEL => {
                self.change(&id, |task| task.cancelled = true);
                self.ledger.record(&format!("cancelled {}", task.nonce));
                done(if stateless { json!({}) } else { self.state(&id).unwrap_or_default() })
            }
            method::TASKS_UPDATE if stateless => {
                let answer = params["inputResponses"]["who"].clone();
                self.change(&id, |task| task.answer = Some(answer));
                done(json!({}))
            }
            method::TASKS_RESULT if !stateless => {
                if task.asks && task.answer.is_none() {
                    let asked = with(form(), "_meta", json!({ RELATED: { "taskId": id } }));
                    let answer = match self.ask(messages, "elicitation/create", asked).await {
                        Outcome::Result(result) => result.read().expect("JSON"),
                        Outcome::Error(_) => json!("refused"),
                    };
                    self.change(&id, |task| task.answer = Some(answer));
                }
                while self.status(&id) == "working" {
                    sleep(Duration::from_millis(5)).await;
                }
                match self.status(&id).as_str() {
                    "completed" => {
                        done(with(self.result(&id), "_meta", json!({ RELATED: { "taskId": id } })))
                    }
                    _ => replies::error(-32603, "it was cancelled"),
                }
            }
            _ => replies::error(-32601, "no such method"),
        }
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Task)) {
        if let Some(task) = self.tasks.0.lock().get_mut(id) {
            change(task);
        }
    }

    fn status(&self, id: &str) -> String {
        let tasks = self.tasks.0.lock();
        let Some(task) = tasks.get(id) else { return "failed".into() };
        match task {
            Task { cancelled: true, .. } => "cancelled",
            Task { asks: true, answer: None, .. } => "input_required",
            task if self.ledger.is_released(&task.nonce) => "completed",
            _ => "working",
        }
        .into()
    }

    fn result(&self, id: &str) -> Value {
        let tasks = self.tasks.0.lock();
        let task = tasks.get(id);
        let said = task.map(|task| match &task.answer {
            Some(answer) => answer.to_string(),
            None => task.nonce.clone(),
        });
        text(&said.unwrap_or_default())
    }

    fn state(&self, id: &str) -> Option<Value> {
        let status = self.status(id);
        let (at, ttl) = ("2026-11-17T12:00:00Z", 60_000);
        let state = json!({ "taskId": id, "status": status, "createdAt": at, "lastUpdatedAt": at });
        if !self.protocol_version.is_stateless() {
            return Some(with(with(state, "ttl", ttl.into()), "pollInterval", PAUSE.into()));
        }
        let state = with(with(state, "ttlMs", ttl.into()), "pollIntervalMs", PAUSE.into());
        Some(match status.as_str() {
            "completed" => {
                with(state, "result", with(self.result(id), "resultType", "complete".into()))
            }
            "input_required" => {
                let asked = with(form(), "mode", "form".into());
                with(
                    state,
                    "inputRequests",
                    json!({ "who": { "method": "elicitation/create", "params": asked } }),
                )
            }
            _ => state,
        })
    }
}

fn with(mut object: Value, key: &str, value: Value) -> Value {
    object[key] = value;
    object
}
