//! A 2024-11-05 server: an event stream, and messages posted to `/messages`.
//!
//! It runs inside the test process and records every request in order.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use axum::routing::{get, post};
use futures_util::stream;
use http::{StatusCode, header};
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use evermoor_core::protocol::envelope::{Message, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{SessionVersion, initialize_result, method};

use crate::PATIENCE;

/// A running server; dropping it stops it.
pub struct EventsServer {
    pub url: String,
    requests: watch::Receiver<Vec<String>>,
    tasks: JoinSet<()>,
}

struct Server {
    requests: watch::Sender<Vec<String>>,
    /// The sender of the newest stream.
    stream: Mutex<Option<mpsc::Sender<Bytes>>>,
}

impl EventsServer {
    pub async fn start() -> Self {
        Self::at("127.0.0.1:0", "/events").await
    }

    /// A server at this address, with its stream at this path.
    pub async fn at(address: &str, path: &str) -> Self {
        let listener = TcpListener::bind(address).await.expect("the address is free");
        let url = format!("http://{}{path}", listener.local_addr().expect("it listens"));
        let (requests, seen) = watch::channel(Vec::new());
        let server = Arc::new(Server { requests, stream: Mutex::default() });
        let app = Router::new()
            .route(path, get(open).post(no_post))
            .route("/messages", post(take))
            .with_state(server);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, app).await.expect("it serves") });
        Self { url, requests: seen, tasks }
    }

    /// Stops it and frees its address.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }

    /// The requests so far: `GET`, `POST`, and the methods of messages.
    pub fn requests(&self) -> Vec<String> {
        self.requests.borrow().clone()
    }

    /// How often this was requested.
    pub fn asked(&self, what: &str) -> usize {
        self.requests.borrow().iter().filter(|seen| *seen == what).count()
    }

    /// Waits until this was requested this many times.
    pub async fn until_asked(&self, what: &str, number: usize) {
        let mut requests = self.requests.clone();
        let asked =
            requests.wait_for(|seen| seen.iter().filter(|seen| *seen == what).count() >= number);
        timeout(PATIENCE, asked).await.expect("it is asked in time").expect("it lives");
    }
}

impl Server {
    fn note(&self, what: &str) {
        self.requests.send_modify(|seen| seen.push(what.to_owned()));
    }
}

async fn open(State(server): State<Arc<Server>>) -> HttpResponse {
    server.note("GET");
    let (send, events) = mpsc::channel(64);
    let endpoint = Bytes::from_static(b"event: endpoint\ndata: /messages\n\n");
    send.try_send(endpoint).expect("there is room for the first");
    *server.stream.lock() = Some(send);
    let events = stream::unfold(events, |mut events| async move {
        events.recv().await.map(|event| (Ok::<_, std::io::Error>(event), events))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

async fn no_post(State(server): State<Arc<Server>>) -> StatusCode {
    server.note("POST");
    StatusCode::METHOD_NOT_ALLOWED
}

async fn take(State(server): State<Arc<Server>>, body: Bytes) -> StatusCode {
    let request = match Message::parse(&body) {
        Ok(Message::Request(request)) => request,
        Ok(Message::Notification(_) | Message::Response(_)) => return StatusCode::ACCEPTED,
        Err(_) => return StatusCode::BAD_REQUEST,
    };
    server.note(&request.method);
    if let Some(result) = result(&request) {
        let event = [b"data: ", &Response::result(request.id, result).to_bytes()[..], b"\n\n"];
        let stream = server.stream.lock().clone();
        if let Some(stream) = stream {
            let _ = stream.send(event.concat().into()).await;
        }
    }
    StatusCode::ACCEPTED
}

/// The answer; `None` for a call of the tool `hang`.
fn result(request: &Request) -> Option<Raw> {
    let tool =
        |name: &str| serde_json::json!({ "name": name, "inputSchema": { "type": "object" } });
    Some(match request.method.as_str() {
        method::INITIALIZE => initialize_result(
            SessionVersion::V2024_11_05,
            &Raw::of(&serde_json::json!({ "tools": {} })),
            &Raw::of(&serde_json::json!({ "name": "events", "version": "1" })),
            None,
        ),
        method::TOOLS_LIST => {
            Raw::of(&serde_json::json!({ "tools": [tool("record"), tool("hang")] }))
        }
        method::TOOLS_CALL => {
            let params = request.params.as_ref()?;
            let name = params.text_member("name")?;
            let text = params.member("arguments")?.text_member("nonce")?;
            if name == "hang" {
                return None;
            }
            Raw::of(&serde_json::json!({ "content": [{ "type": "text", "text": text }] }))
        }
        _ => Raw::of(&serde_json::json!({})),
    })
}
