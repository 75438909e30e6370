//! A stand-in for the model of an agent: it answers each request with what the test decides.
//!
//! It speaks three protocols: OpenAI's Responses and Chat Completions, and Gemini's. Requests that an
//! agent makes beside the conversation, such as one for a title, are answered at once.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::Agent;
use crate::PATIENCE;

/// A model under the control of a test.
pub struct Model {
    pub origin: String,
    turns: mpsc::UnboundedReceiver<ModelTurn>,
}

/// A request of the agent in the conversation. It waits until the test decides.
pub struct ModelTurn {
    agent: Agent,
    request: Value,
    decision: oneshot::Sender<Decision>,
}

enum Decision {
    Call { tool: String, arguments: Value },
    Done,
}

#[derive(Clone)]
struct ModelEndpoint {
    agent: Agent,
    turns: mpsc::UnboundedSender<ModelTurn>,
}

#[derive(Clone, Copy)]
enum Protocol {
    Responses,
    ChatCompletions,
    Gemini,
}

/// An agent offers its model more tools than this, except beside the conversation.
const FEW_TOOLS: usize = 3;

impl Model {
    pub async fn start(agent: Agent) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let origin = format!("http://{}", listener.local_addr().expect("it listens"));
        let (sender, turns) = mpsc::unbounded_channel();
        let endpoint = Arc::new(ModelEndpoint { agent, turns: sender });
        let app = Router::new().fallback(answer).with_state(endpoint);
        #[expect(clippy::disallowed_methods, reason = "the runtime of the test ends it")]
        drop(tokio::spawn(async move { axum::serve(listener, app).await }));
        Self { origin, turns }
    }

    /// The agent's next request.
    pub async fn asked(&mut self) -> ModelTurn {
        let turn = timeout(PATIENCE, self.turns.recv()).await;
        turn.expect("the agent asks its model in time").expect("the model listens")
    }
}

impl ModelTurn {
    /// Lets the agent call a tool of the entry `evermoor`.
    pub fn call(self, tool: &str, arguments: Value) {
        let decision = Decision::Call { tool: tool.to_owned(), arguments };
        assert!(self.decision.send(decision).is_ok(), "the agent waits");
    }

    /// Lets the agent call a tool, and waits for what it tells the model next.
    pub async fn after_calling(self, model: &mut Model, tool: &str, arguments: Value) -> Self {
        self.call(tool, arguments);
        model.asked().await
    }

    /// Ends the conversation.
    pub fn end(self) {
        assert!(self.decision.send(Decision::Done).is_ok(), "the agent waits");
    }

    /// What the agent was told by the last tool that it called.
    pub fn result(&self) -> String {
        let last = |list: &str, is_result: fn(&Value) -> bool| {
            let items = self.request[list].as_array().expect("a conversation");
            items.iter().rev().find(|item| is_result(item)).cloned().unwrap_or_default()
        };
        let told = if self.request["input"].is_array() {
            last("input", |item| item["type"] == "function_call_output")["output"].take()
        } else if self.request["messages"].is_array() {
            last("messages", |item| item["role"] == "tool")["content"].take()
        } else {
            let is_result = |item: &Value| item["parts"][0]["functionResponse"].is_object();
            last("contents", is_result)["parts"][0]["functionResponse"]["response"].take()
        };
        told.as_str().map_or_else(|| told.to_string(), str::to_owned)
    }

    /// Whether the agent offers its model a tool of the entry `evermoor`.
    pub fn offers(&self, tool: &str) -> bool {
        let tools = self.request["tools"].to_string();
        match self.agent {
            Agent::Codex => {
                tools.contains("mcp__evermoor") && tools.contains(&format!("\"{tool}\""))
            }
            Agent::Gemini => tools.contains(&format!("mcp_evermoor_{tool}\"")),
            Agent::Copilot => tools.contains(&format!("evermoor-{tool}\"")),
            Agent::Grok => panic!("grok's model has to search for tools"),
        }
    }
}

async fn answer(State(endpoint): State<Arc<ModelEndpoint>>, uri: Uri, body: Bytes) -> Response {
    let path = uri.path();
    let protocol = match path {
        _ if path.ends_with("/responses") => Protocol::Responses,
        _ if path.ends_with("/chat/completions") => Protocol::ChatCompletions,
        _ if path.ends_with("enerateContent") => Protocol::Gemini,
        _ => return (StatusCode::NOT_FOUND, "{}").into_response(),
    };
    let request: Value = serde_json::from_slice(&body).expect("a request is JSON");
    let decision = match is_beside(&request) {
        true => Decision::Done,
        false => {
            let (decision, decided) = oneshot::channel();
            let turn = ModelTurn { agent: endpoint.agent, request, decision };
            // After the test, nobody decides any more.
            let _ = endpoint.turns.send(turn);
            decided.await.unwrap_or(Decision::Done)
        }
    };
    let decision = match decision {
        Decision::Call { tool, arguments } => Some(call(endpoint.agent, &tool, arguments)),
        Decision::Done => None,
    };
    let text = match protocol {
        Protocol::Responses => responses(decision),
        Protocol::ChatCompletions => chat_completion(decision),
        Protocol::Gemini => gemini(decision),
    };
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}

/// Whether a request is not part of the conversation: one for a title, or for a summary of the turn.
fn is_beside(request: &Value) -> bool {
    let declarations = request["tools"][0]["functionDeclarations"].as_array();
    let tools = declarations.or(request["tools"].as_array()).map_or(0, Vec::len);
    let last = request["messages"].as_array().and_then(|messages| messages.last());
    let reminder = last.and_then(|last| last["content"].as_str());
    tools <= FEW_TOOLS || reminder.is_some_and(|text| text.starts_with("<system-reminder>Write"))
}

/// What the agent calls a tool of the entry `evermoor`, and its arguments.
fn call(agent: Agent, tool: &str, arguments: Value) -> (String, Value) {
    match agent {
        Agent::Codex => (tool.to_owned(), arguments),
        Agent::Gemini => (format!("mcp_evermoor_{tool}"), arguments),
        Agent::Copilot => (format!("evermoor-{tool}"), arguments),
        Agent::Grok => {
            let wanted =
                json!({ "tool_name": format!("evermoor__{tool}"), "tool_input": arguments });
            ("use_tool".to_owned(), wanted)
        }
    }
}

fn responses(call: Option<(String, Value)>) -> String {
    let item = match call {
        Some((name, arguments)) => json!({
            "type": "function_call",
            "id": "item",
            "call_id": format!("call-{name}-{arguments}"),
            "namespace": "mcp__evermoor",
            "name": name,
            "arguments": arguments.to_string(),
        }),
        None => json!({
            "type": "message",
            "role": "assistant",
            "id": "item",
            "content": [{ "type": "output_text", "text": "Done." }],
        }),
    };
    let usage = json!({ "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 });
    [
        json!({ "type": "response.created", "response": { "id": "response" } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": { "id": "response", "usage": usage } }),
    ]
    .iter()
    .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().expect("a type")))
    .collect()
}

fn chat_completion(call: Option<(String, Value)>) -> String {
    let (delta, reason) = match call {
        Some((name, arguments)) => {
            let id = format!("call-{name}-{arguments}");
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let call = json!({ "index": 0, "id": id, "type": "function", "function": function });
            (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
        }
        None => (json!({ "role": "assistant", "content": "Done." }), "stop"),
    };
    let chunk = |choices: Value| {
        let usage = json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 });
        json!({
            "id": "completion",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "stand-in",
            "choices": choices,
            "usage": usage,
        })
    };
    let said = json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
    let ended = json!([{ "index": 0, "delta": {}, "finish_reason": reason }]);
    let chunks = [chunk(said), chunk(ended)].map(|chunk| format!("data: {chunk}\n\n"));
    format!("{}data: [DONE]\n\n", chunks.concat())
}

fn gemini(call: Option<(String, Value)>) -> String {
    let part = match call {
        Some((name, arguments)) => json!({ "functionCall": { "name": name, "args": arguments } }),
        None => json!({ "text": "Done." }),
    };
    let content = json!({ "role": "model", "parts": [part] });
    let answer = json!({
        "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 },
        "modelVersion": "stand-in",
    });
    format!("data: {answer}\n\n")
}
