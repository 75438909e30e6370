//! The tools of an upstream that speaks one MCP version.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use evermoor_core::protocol::envelope::{Notification, Outcome, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{SessionVersion, meta, method};

use super::replies;
use super::replies::{client_capabilities, text};
use super::server::{List, MessageSender, NOTE, SingleVersionServer};
use crate::oracle::ledger::Ledger;

/// A request state that must come back byte for byte.
const STATE: &str = "opaque \"\u{e9}\\/\u{2028}";

/// All tools.
pub const NAMES: [&str; 17] = [
    "echo", "seen", "steps", "log", "wait", "ask", "link", "sample", "roots", "sign_in", "again",
    "content", "number", "touch", "grow", "slow", "slow_ask",
];

pub fn list(server: &SingleVersionServer) -> Value {
    let grown = server.client.lock().grown.then_some("grown");
    let tools: Vec<Value> = NAMES.into_iter().chain(grown).map(|name| tool(server, name)).collect();
    json!({ "tools": tools })
}

fn tool(server: &SingleVersionServer, name: &str) -> Value {
    let mut tool = json!({ "name": name, "inputSchema": { "type": "object" } });
    if name.starts_with("slow")
        && server.protocol_version.knows(SessionVersion::V2025_11_25)
        && !server.protocol_version.is_stateless()
    {
        tool["execution"] = json!({ "taskSupport": "optional" });
    }
    if name == "number" && server.protocol_version.is_stateless() {
        tool["outputSchema"] = json!({ "type": "number" });
    }
    if name == "seen" && server.protocol_version.is_stateless() {
        tool["inputSchema"]["properties"] =
            json!({ "region": { "type": "string", "x-mcp-header": "Region" } });
    }
    tool
}

/// A running call. Dropping it records in the ledger that it was cancelled.
struct Unfinished(Option<(Ledger, String)>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some((ledger, nonce)) = self.0.take() {
            ledger.record(&format!("cancelled {nonce}"));
        }
    }
}

impl SingleVersionServer {
    pub(super) async fn call(
        &self,
        request: &Request,
        headers: &Value,
        messages: &MessageSender,
    ) -> Outcome {
        let params = replies::params(request);
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let nonce = params["arguments"]["nonce"].as_str().unwrap_or(&name).to_owned();
        if params.get("requestState").is_none() {
            self.ledger.record(&nonce);
        }
        if let Some(made) = self.task_for(&name, &nonce, &params) {
            return Outcome::Result(Raw::of(&made));
        }
        let done = |result: Value| Outcome::Result(Raw::of(&result));
        match name.as_str() {
            "echo" | "grown" | "slow" | "slow_ask" => done(text(&nonce)),
            "seen" => done(text(&json!({ "params": params, "headers": headers }).to_string())),
            "steps" => {
                let token = &params["_meta"]["progressToken"];
                for step in 1..=3 {
                    let step = json!({ "progressToken": token, "progress": step, "total": 3 });
                    let _ = messages
                        .send(Notification::new(method::PROGRESS, Some(Raw::of(&step))).into());
                }
                done(text("stepped"))
            }
            "log" => {
                let level = params["arguments"]["level"].as_str().unwrap_or("info");
                let wanted = !self.protocol_version.is_stateless()
                    || params["_meta"].get(meta::LOG_LEVEL).is_some();
                let entry = Raw::of(&json!({ "level": level, "data": nonce }));
                if wanted {
                    let _ = messages.send(Notification::new(method::LOG, Some(entry)).into());
                }
                done(text("logged"))
            }
            "wait" => {
                let mut unfinished = Unfinished(Some((self.ledger.clone(), nonce.clone())));
                while !self.ledger.is_released(&nonce) {
                    sleep(Duration::from_millis(5)).await;
                }
                unfinished.0 = None;
                done(text(&nonce))
            }
            "ask" => self.needs(&params, messages, "elicitation/create", form()).await,
            "link" => self.needs(&params, messages, "elicitation/create", link()).await,
            "sample" => self.needs(&params, messages, "sampling/createMessage", sample()).await,
            "roots" => self.needs(&params, messages, "roots/list", json!({})).await,
            "sign_in" if self.ledger.executions(&nonce) < 2 => {
                let data = json!({ "elicitations": [link()] });
                let error = json!({ "code": -32042, "message": "Sign in first.", "data": data });
                Outcome::Error(Raw::of(&error))
            }
            "sign_in" => done(text("signed in")),
            "again" if self.protocol_version.is_stateless() => {
                let state = params["requestState"].as_str().unwrap_or_default().len();
                match state < 3 {
                    true => {
                        let state = "x".repeat(state + 1);
                        done(json!({ "resultType": "input_required", "requestState": state }))
                    }
                    false => done(text("asked again")),
                }
            }
            "content" => done(json!({
                "content": [
                    { "type": "resource_link", "uri": NOTE, "name": "note" },
                    { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
                ],
                "structuredContent": { "a": 1 },
            })),
            "number" if self.protocol_version.is_stateless() => {
                done(json!({ "content": [], "structuredContent": 7 }))
            }
            "number" => done(text("7")),
            "touch" => {
                self.notify(method::RESOURCE_UPDATED, Some(json!({ "uri": NOTE })));
                done(text("touched"))
            }
            "grow" => {
                self.client.lock().grown = true;
                self.notify(List::TOOLS, None);
                done(text("grown"))
            }
            _ => replies::error(-32602, "no such tool"),
        }
    }

    /// Asks the client, and returns its reply as the text of the result.
    async fn needs(
        &self,
        params: &Value,
        messages: &MessageSender,
        called: &str,
        asked: Value,
    ) -> Outcome {
        let answered = |answer: &Value| Outcome::Result(Raw::of(&text(&answer.to_string())));
        if !self.protocol_version.is_stateless() {
            return match self.ask(messages, called, asked).await {
                Outcome::Result(result) => answered(&result.read().expect("JSON")),
                Outcome::Error(error) => {
                    Outcome::Result(Raw::of(&text(&format!("refused: {error:?}"))))
                }
            };
        }
        let ability = called.split('/').next().unwrap_or_default();
        if client_capabilities(params).get(ability).is_none() {
            let data = json!({ "requiredCapabilities": { ability: {} } });
            let error = json!({ "code": -32021, "message": "It cannot be asked.", "data": data });
            return Outcome::Error(Raw::of(&error));
        }
        match params["inputResponses"].get("who") {
            Some(_) if params["requestState"] != STATE => replies::error(-32602, "not my state"),
            Some(answer) => answered(answer),
            None => {
                let mut asked = asked;
                if called == "elicitation/create" {
                    asked.as_object_mut().expect("an object").remove("elicitationId");
                    asked["mode"] = asked.get("mode").cloned().unwrap_or("form".into());
                }
                let needed = json!({ "who": { "method": called, "params": asked } });
                Outcome::Result(Raw::of(&json!({
                    "resultType": "input_required", "inputRequests": needed, "requestState": STATE,
                })))
            }
        }
    }
}

pub(super) fn form() -> Value {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    json!({ "message": "Who?", "requestedSchema": schema })
}

fn link() -> Value {
    json!({ "mode": "url", "message": "Open it.", "url": "https://example.com/", "elicitationId": "e1" })
}

fn sample() -> Value {
    let content = json!({ "type": "text", "text": "Say something." });
    json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 10 })
}
