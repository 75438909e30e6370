//! An editor's connection to the gateway: HTTP+SSE, Streamable HTTP, or the shim.

use std::collections::HashMap;
use std::process::Stdio;

use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_tests::PATIENCE;
use evermoor_tests::editor::wire::{Wire, WireEvents};
use evermoor_tests::gateway::Gateway;
use evermoor_tests::scene::programs::Process;
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

const BOTH: &str = "application/json, text/event-stream";

/// How an editor reaches the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatrixRoute {
    /// HTTP+SSE.
    Sse,
    /// Streamable HTTP.
    Http,
    /// `evermoor connect`.
    Shim,
}

/// One connection of an editor.
pub(crate) enum MatrixConnection {
    Sse { stream: WireEvents, wire: Wire },
    Http(Posts),
    Shim { process: Process, input: ChildStdin },
}

/// Over Streamable HTTP every request has its own stream; messages of all streams arrive here.
pub(crate) struct Posts {
    wire: Wire,
    said: mpsc::UnboundedSender<Value>,
    messages: mpsc::UnboundedReceiver<Value>,
    streams: JoinSet<()>,
    calls: HashMap<u64, AbortHandle>,
}

impl MatrixConnection {
    pub(crate) async fn sse(gateway: &Gateway, upstream: &str) -> Self {
        let wire = Wire::to(gateway, &format!("/sse/{upstream}"));
        let answer = wire.send(Method::GET, None, "text/event-stream").await;
        assert_eq!(answer.status(), StatusCode::OK);
        let mut stream = WireEvents::of(answer);
        let (_, address) = stream.next_text().await.expect("an address to post to");
        Self::Sse { stream, wire: Wire::to(gateway, &address) }
    }

    /// Completes the handshake and opens the notification stream, if the version has them.
    pub(crate) async fn http(
        gateway: &Gateway,
        upstream: &str,
        protocol_version: ProtocolVersion,
        capabilities: Value,
    ) -> Self {
        let mut wire = Wire::to(gateway, &format!("/mcp/{upstream}"));
        let (said, messages) = mpsc::unbounded_channel();
        let mut streams = JoinSet::new();
        if !protocol_version.is_stateless() {
            wire = wire.initialized(protocol_version.as_str(), capabilities).await;
            wire = wire.with("mcp-protocol-version", protocol_version.as_str());
            let notifications = wire.send(Method::GET, None, "text/event-stream").await;
            assert_eq!(notifications.status(), StatusCode::OK);
            streams.spawn(forward(notifications, said.clone()));
        }
        Self::Http(Posts { wire, said, messages, streams, calls: HashMap::new() })
    }

    pub(crate) fn shim(gateway: &Gateway, upstream: &str) -> Self {
        let mut process = Process::evermoor(&gateway.home, |command| {
            command.args(["connect", upstream, "--home"]).arg(&gateway.home).stdin(Stdio::piped());
        });
        let input = process.child.stdin.take().expect("standard input was piped");
        Self::Shim { process, input }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        match self {
            Self::Sse { wire, .. } => {
                assert_eq!(wire.post(message).await.status, StatusCode::ACCEPTED, "{message}");
            }
            Self::Http(posts) => posts.post(message),
            Self::Shim { input, .. } => {
                let line = format!("{message}\n");
                input.write_all(line.as_bytes()).await.expect("the shim reads");
            }
        }
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        match self {
            Self::Sse { stream, .. } => stream.next().await.expect("the stream is open").1,
            Self::Http(posts) => {
                let message = timeout(PATIENCE, posts.messages.recv()).await;
                message.expect("a message in time").expect("the other end is here")
            }
            Self::Shim { process, .. } => {
                serde_json::from_str(&process.line().await).expect("only JSON is on its output")
            }
        }
    }

    /// Closes the stream of a request. Returns false if the request has no stream of its own.
    pub(crate) fn hang_up(&mut self, id: u64) -> bool {
        match self {
            Self::Http(posts) => posts.calls.remove(&id).inspect(AbortHandle::abort).is_some(),
            Self::Sse { .. } | Self::Shim { .. } => false,
        }
    }
}

impl Posts {
    fn post(&mut self, message: &Value) {
        let (wire, message, said) = (self.stating(message), message.clone(), self.said.clone());
        let id = message["id"].as_u64().filter(|_| message.get("method").is_some());
        let stream = self.streams.spawn(async move {
            forward(wire.send(Method::POST, Some(&message), BOTH).await, said).await;
        });
        if let Some(id) = id {
            self.calls.insert(id, stream);
        }
    }

    /// With the headers of a 2026-07-28 request.
    fn stating(&self, message: &Value) -> Wire {
        let (wire, params) = (self.wire.clone(), &message["params"]);
        let revision = &params["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let (Some(revision), Some(method)) = (revision.as_str(), message["method"].as_str()) else {
            return wire;
        };
        let wire = wire.with("mcp-protocol-version", revision).with("mcp-method", method);
        let named = ["name", "uri", "taskId"].into_iter().find_map(|key| params[key].as_str());
        match named {
            Some(name) => wire.with("mcp-name", name),
            None => wire,
        }
    }
}

/// Forwards every message of a response.
async fn forward(answer: Response, said: mpsc::UnboundedSender<Value>) {
    let kind = answer.headers().get("content-type").cloned();
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        let mut events = WireEvents::of(answer);
        while let Some((_, message)) = events.next().await {
            let _ = said.send(message);
        }
        return;
    }
    let body = answer.bytes().await.expect("a whole body");
    if !body.is_empty() {
        let _ = said.send(serde_json::from_slice(&body).expect("JSON"));
    }
}
