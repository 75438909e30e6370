//! Tests of the fake PiecesOS: it behaves as the real one was observed to behave.
//!
//! - [`api`]: its API
//! - [`restarts`]: how it exits and starts again
//! - [`faults`]: its faults

mod api;
mod faults;
mod restarts;

use evermoor_tests::fakes::pieces::Pieces;
use evermoor_tests::gateway::http;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// Sends a request to its newest process.
async fn ask(pieces: &Pieces, method: Method, path: &str) -> (StatusCode, String) {
    let answer = http().request(method, pieces.url(path)).send().await.unwrap();
    let status = answer.status();
    (status, String::from_utf8(answer.bytes().await.unwrap().to_vec()).unwrap())
}

async fn get(pieces: &Pieces, path: &str) -> String {
    let (status, body) = ask(pieces, Method::GET, path).await;
    assert_eq!(status, StatusCode::OK, "{path}: {body}");
    body
}

async fn get_json(pieces: &Pieces, path: &str) -> Value {
    serde_json::from_str(&get(pieces, path).await).unwrap()
}

const HEALTH: &str = "/.well-known/health";
const STREAMABLE: &str = "/model_context_protocol/2025-03-26/mcp";

/// Posts a message over Streamable HTTP, in this session.
async fn post(pieces: &Pieces, session: Option<&str>, message: &Value) -> reqwest::Response {
    let mut request = http()
        .post(pieces.streamable_url())
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(message.to_string());
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.send().await.unwrap()
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn create(words: &str) -> Value {
    let params = json!({ "name": "create_pieces_memory", "arguments": { "summary": words } });
    request("tools/call", params)
}

async fn handshake(pieces: &Pieces) -> String {
    let params = json!({
        "protocolVersion": "2025-03-26",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let answer = post(pieces, None, &request("initialize", params)).await;
    answer.headers()["mcp-session-id"].to_str().unwrap().to_owned()
}

async fn said(answer: reqwest::Response) -> Value {
    serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
}
