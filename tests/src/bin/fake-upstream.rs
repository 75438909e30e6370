//! `fake-upstream ADDRESS LEDGER`: an MCP server that keeps a ledger of what it executed.
//!
//! It prints its address once it listens, and each execution. It is strict where the protocol is: without a session it
//! gave out itself, it answers nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use axum::routing::post;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};

use evermoor_core::envelope::{
    INVALID_PARAMS, METHOD_NOT_FOUND, Message, Notification, Request, Response,
};
use evermoor_core::json::Raw;
use evermoor_core::protocol::{Revision, initialize_result, method};
use evermoor_core::sse;
use evermoor_tests::ledger::Ledger;

struct Fake {
    ledger: Ledger,
    sessions: AtomicU64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args_os().skip(1);
    let address = args.next().and_then(|address| address.into_string().ok()).expect("an address");
    let ledger = Ledger::at(PathBuf::from(args.next().expect("a ledger")));
    let fake = Arc::new(Fake { ledger, sessions: AtomicU64::new(0) });
    let listener = tokio::net::TcpListener::bind(address).await.expect("the address is free");
    let address = listener.local_addr().expect("it listens");
    say(&format!("http://{address}/mcp"));
    let app = Router::new().route("/mcp", post(answer)).with_state(fake);
    axum::serve(listener, app).await.expect("it serves until it is killed");
}

#[expect(clippy::print_stdout, reason = "the test that started it reads what it says")]
fn say(line: &str) {
    println!("{line}");
}

async fn answer(State(fake): State<Arc<Fake>>, headers: HeaderMap, body: Bytes) -> HttpResponse {
    let message = match Message::parse(&body) {
        Ok(message) => message,
        Err(rejected) => return json(StatusCode::BAD_REQUEST, &rejected.into()),
    };
    if let Message::Request(request) = &message
        && request.method == method::INITIALIZE
    {
        let session = fake.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        let mut response =
            json(StatusCode::OK, &Response::result(request.id.clone(), initialize()));
        response.headers_mut().insert("mcp-session-id", fake.session(session));
        return response;
    }
    let known = headers.get("mcp-session-id").is_some_and(|id| {
        let given = fake.sessions.load(Ordering::Relaxed);
        (1..=given).any(|number| fake.session(number) == id)
    });
    match message {
        _ if !known => StatusCode::NOT_FOUND.into_response(),
        Message::Request(request) => fake.respond(&request).await,
        Message::Notification(_) | Message::Response(_) => StatusCode::ACCEPTED.into_response(),
    }
}

impl Fake {
    /// Sessions of an earlier life of this server are not known to the next.
    fn session(&self, number: u64) -> http::HeaderValue {
        let id = format!("{}-{number}", std::process::id());
        http::HeaderValue::from_str(&id).expect("digits make a header")
    }

    async fn respond(&self, request: &Request) -> HttpResponse {
        let id = request.id.clone();
        let params = request.params.clone().unwrap_or_else(|| Raw::of(&serde_json::json!({})));
        let response = match request.method.as_str() {
            method::PING => Response::result(id, Raw::of(&serde_json::json!({}))),
            method::TOOLS_LIST => Response::result(id, tools()),
            method::TOOLS_CALL => return self.call(request, &params).await,
            _ => Response::error(Some(id), METHOD_NOT_FOUND, "no such method"),
        };
        json(StatusCode::OK, &response)
    }

    fn execute(&self, nonce: &str) {
        self.ledger.record(nonce);
        say(&format!("executed {nonce}"));
    }

    async fn call(&self, request: &Request, params: &Raw) -> HttpResponse {
        let arguments =
            params.member("arguments").unwrap_or_else(|| Raw::of(&serde_json::json!({})));
        let nonce = arguments.text_member("nonce").unwrap_or_default();
        let result = match params.text_member("name").unwrap_or_default().as_str() {
            "record" => {
                self.execute(&nonce);
                text(&nonce)
            }
            "hang" => {
                self.execute(&nonce);
                tokio::time::sleep(Duration::from_secs(3600)).await;
                text(&nonce)
            }
            "wait" => {
                self.execute(&nonce);
                while !self.ledger.is_released(&nonce) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                text(&nonce)
            }
            // Says back what arrived, as it arrived.
            "mirror" => Raw::of(&serde_json::json!({})).with("mirrored", params),
            "steps" => return steps(request),
            _ => {
                let error =
                    Response::error(Some(request.id.clone()), INVALID_PARAMS, "no such tool");
                return json(StatusCode::OK, &error);
            }
        };
        json(StatusCode::OK, &Response::result(request.id.clone(), result))
    }
}

/// Three messages about the call, then its answer, as a stream.
fn steps(request: &Request) -> HttpResponse {
    let token =
        request.params.as_ref().and_then(|params| params.member("_meta")?.member("progressToken"));
    let mut stream = Vec::new();
    for step in 1..=3 {
        let params = serde_json::json!({ "progressToken": token, "progress": step });
        let progress = Notification::new("notifications/progress", Some(Raw::of(&params)));
        stream.extend_from_slice(&sse::write(None, None, &progress.to_bytes()));
    }
    let answer = Response::result(request.id.clone(), text("done"));
    stream.extend_from_slice(&sse::write(None, None, &answer.to_bytes()));
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from(stream)).into_response()
}

fn initialize() -> Raw {
    initialize_result(
        Revision::LATEST,
        &Raw::of(&serde_json::json!({ "tools": {} })),
        &Raw::of(&serde_json::json!({ "name": "fake", "version": "1" })),
        None,
    )
}

fn tools() -> Raw {
    let tool =
        |name: &str| serde_json::json!({ "name": name, "inputSchema": { "type": "object" } });
    let tools: Vec<_> = ["record", "hang", "mirror", "steps"].map(tool).into();
    Raw::of(&serde_json::json!({ "tools": tools }))
}

fn text(text: &str) -> Raw {
    Raw::of(&serde_json::json!({ "content": [{ "type": "text", "text": text }] }))
}

fn json(status: StatusCode, response: &Response) -> HttpResponse {
    (status, [(header::CONTENT_TYPE, "application/json")], response.to_bytes()).into_response()
}
