//! The outcome of a call as the editor sees it, in the terms of the delivery contract.

use evermoor_core::failure::outcome::META_KEY;
use evermoor_core::protocol::envelope::{Outcome, Response};
use evermoor_core::protocol::json::Raw;
use serde_json::{Value, json};

use crate::editor::Editor;

/// The answer to a call.
#[derive(Clone, Debug)]
pub struct CallAnswer {
    pub verdict: Verdict,
    /// The text for a user or a model.
    pub text: String,
    /// The gateway's statement about what happened to the call. Empty if the upstream answered with
    /// more than a status.
    pub details: Value,
}

/// What happened to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The upstream answered with a result.
    Done,
    /// The upstream answered with an error.
    Refused { code: i64 },
    /// The gateway says that nothing was executed.
    NotSent { code: i64, cause: String },
    /// The gateway says that the outcome is unknown.
    Unknown { code: i64, cause: String },
    /// The gateway says that the call was executed but its reply was lost.
    Executed { code: i64, cause: String },
}

impl CallAnswer {
    pub fn of(response: &Response) -> Self {
        let (value, is_error) = match &response.outcome {
            Outcome::Result(result) => (result.read::<Value>().expect("a result is JSON"), false),
            Outcome::Error(error) => (error.read::<Value>().expect("an error is JSON"), true),
        };
        let details = match is_error {
            true => value["data"].clone(),
            false => value["_meta"][META_KEY].clone(),
        };
        let texts =
            [&value["message"], &value["content"][0]["text"], &value["contents"][0]["text"]];
        let text = texts.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned();
        assert!(!text.trim().is_empty(), "an answer without a word: {value}");
        let ours = details["origin"] == "gateway";
        let verdict = if ours { fate(&details) } else { said(&value, is_error) };
        Self { verdict, text, details }
    }

    /// The gateway's code and cause for its answer.
    pub fn why(&self) -> (i64, &str) {
        match &self.verdict {
            Verdict::Done => (0, "done"),
            Verdict::Refused { code } => (*code, "refused"),
            Verdict::NotSent { code, cause }
            | Verdict::Unknown { code, cause }
            | Verdict::Executed { code, cause } => (*code, cause),
        }
    }
}

impl Editor {
    /// Calls a tool with a nonce.
    pub async fn attempt(&mut self, tool: &str, nonce: &str) -> CallAnswer {
        let params = json!({ "name": tool, "arguments": { "nonce": nonce } });
        CallAnswer::of(&self.request("tools/call", Some(Raw::of(&params))).await)
    }

    /// Reads a resource. A read may be retried.
    pub async fn read(&mut self, uri: &str) -> CallAnswer {
        CallAnswer::of(&self.request("resources/read", Some(Raw::of(&json!({ "uri": uri })))).await)
    }
}

fn fate(details: &Value) -> Verdict {
    let code = details["code"].as_i64().expect("an outcome has a code");
    let cause = details["cause"].as_str().expect("an outcome has a cause").to_owned();
    match details["outcome"].as_str() {
        Some("not_sent") => Verdict::NotSent { code, cause },
        Some("unknown") => Verdict::Unknown { code, cause },
        Some("executed") => Verdict::Executed { code, cause },
        other => panic!("`{other:?}` is no outcome of the contract"),
    }
}

fn said(value: &Value, is_error: bool) -> Verdict {
    match (is_error, value["isError"].as_bool()) {
        (true, _) => Verdict::Refused { code: value["code"].as_i64().unwrap_or_default() },
        (false, Some(true)) => Verdict::Refused { code: 0 },
        (false, _) => Verdict::Done,
    }
}
