//! The demo upstream, which answers when nothing is configured so that a first call works.
//!
//! It is a real MCP server over HTTP on a port of its own, and the gateway connects to it like to
//! any other. `evermoor demo` runs it in a process that can be killed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use axum::routing::post;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::protocol::envelope::{
    INVALID_PARAMS, METHOD_NOT_FOUND, Message, Request, Response,
};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{InitializeParams, SessionVersion, initialize_result, method};
use evermoor_core::protocol::params::Params;
use evermoor_core::security::request_access;
use evermoor_core::security::request_access::AccessRequest;

/// A running demo server; dropping it stops the server.
pub struct DemoServer {
    address: SocketAddr,
    _running: DropGuard,
}

#[derive(Clone)]
struct Demo {
    port: u16,
    counted: Arc<AtomicU64>,
}

impl DemoServer {
    /// Listens on `address`; port 0 takes a free port.
    pub async fn start(address: &str, tasks: &TaskTracker) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let demo = Demo { port: address.port(), counted: Arc::default() };
        let app = Router::new().route("/mcp", post(answer)).with_state(demo);
        let stop = CancellationToken::new();
        let running = stop.clone().drop_guard();
        let serve = axum::serve(listener, app).into_future();
        tasks.spawn(stop.run_until_cancelled_owned(serve));
        Ok(Self { address, _running: running })
    }

    pub fn url(&self) -> Url {
        Url::parse(&format!("http://{}/mcp", self.address)).expect("an address makes a URL")
    }
}

async fn answer(State(demo): State<Demo>, headers: HeaderMap, body: Bytes) -> HttpResponse {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let visitor = AccessRequest {
        host: text(header::HOST),
        origin: text(header::ORIGIN),
        ..AccessRequest::default()
    };
    if request_access::check_origin(visitor, demo.port, false).is_err() {
        return StatusCode::FORBIDDEN.into_response();
    }
    match Message::parse(&body) {
        Ok(Message::Request(request)) => json(StatusCode::OK, &demo.respond(&request).await),
        Ok(Message::Notification(_) | Message::Response(_)) => StatusCode::ACCEPTED.into_response(),
        Err(rejected) => json(StatusCode::BAD_REQUEST, &rejected.into()),
    }
}

fn json(status: StatusCode, response: &Response) -> HttpResponse {
    (status, [(header::CONTENT_TYPE, "application/json")], response.to_bytes()).into_response()
}

impl Demo {
    async fn respond(&self, request: &Request) -> Response {
        let id = request.id.clone();
        let params = request.params.clone().unwrap_or_default();
        match request.method.as_str() {
            method::INITIALIZE => Response::result(id, initialize(&params)),
            method::PING => Response::result(id, Raw::of(&serde_json::json!({}))),
            method::TOOLS_LIST => Response::result(id, tools()),
            method::TOOLS_CALL => match self.call(&params).await {
                Some(text) => {
                    let content =
                        serde_json::json!({ "content": [{ "type": "text", "text": text }] });
                    Response::result(id, Raw::of(&content))
                }
                None => Response::error(Some(id), INVALID_PARAMS, "There is no such tool."),
            },
            _ => Response::error(
                Some(id),
                METHOD_NOT_FOUND,
                "The demo server does not know this method.",
            ),
        }
    }

    async fn call(&self, params: &Params) -> Option<String> {
        let argument = |name: &str| params.member("arguments")?.member(name);
        match params.text_member("name")?.as_str() {
            "echo" => Some(argument("text").and_then(|text| text.read().ok()).unwrap_or_default()),
            "add" => {
                let number =
                    |name| argument(name).and_then(|raw| raw.read::<f64>().ok()).unwrap_or(0.0);
                Some((number("a") + number("b")).to_string())
            }
            "count" => Some((self.counted.fetch_add(1, Ordering::Relaxed) + 1).to_string()),
            "wait" => {
                let seconds: u64 = argument("seconds").and_then(|raw| raw.read().ok()).unwrap_or(1);
                tokio::time::sleep(Duration::from_secs(seconds.min(60))).await;
                Some(format!("Waited {} s.", seconds.min(60)))
            }
            _ => None,
        }
    }
}

fn initialize(params: &Params) -> Raw {
    let asked = params.read::<InitializeParams>().ok();
    let revision = asked.and_then(|asked| SessionVersion::parse(&asked.protocol_version));
    let info =
        serde_json::json!({ "name": "evermoor-demo", "title": "Demo", "version": crate::VERSION });
    initialize_result(
        revision.unwrap_or(SessionVersion::LATEST),
        &Raw::of(&serde_json::json!({ "tools": {} })),
        &Raw::of(&info),
        Some("A built-in server to try Evermoor with. It stores nothing."),
    )
}

fn tools() -> Raw {
    let tool = |name: &str, description: &str, properties: serde_json::Value| {
        serde_json::json!({
            "name": name,
            "description": description,
            "inputSchema": { "type": "object", "properties": properties },
        })
    };
    let number = serde_json::json!({ "type": "number" });
    Raw::of(&serde_json::json!({ "tools": [
        tool("echo", "Returns the text.", serde_json::json!({ "text": { "type": "string" } })),
        tool("add", "Adds two numbers.", serde_json::json!({ "a": number, "b": number })),
        tool("count", "Counts how often it was called.", serde_json::json!({})),
        tool("wait", "Answers after some seconds.", serde_json::json!({ "seconds": number })),
    ] }))
}
