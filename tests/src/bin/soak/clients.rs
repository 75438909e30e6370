//! The kinds of editors. Over HTTP they go on when their connection breaks, because the gateway is killed.

use std::time::Duration;

use bytes::Bytes;
use evermoor_core::protocol::envelope::{Id, Message, Response};
use evermoor_core::protocol::sse::SseParser;
use evermoor_tests::editor::Editor;
use evermoor_tests::editor::answer::Answer;
use evermoor_tests::editor::wire::Events;
use evermoor_tests::gateway::Gateway;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

/// How long an editor waits for an answer: longer than a hold, a call and a start of the gateway take
/// together.
const CALL_LIMIT: Duration = Duration::from_secs(25);
/// The wait between two attempts to open a stream.
const REOPEN_INTERVAL: Duration = Duration::from_millis(50);
/// So that no idle connection counts when the gateway's resources are measured.
const IDLE_LIMIT: Duration = Duration::from_secs(1);
const BOTH: &str = "application/json, text/event-stream";

/// An editor of any kind.
pub(crate) enum CallingEditor {
    /// Streamable HTTP, with a session or without (2026-07-28).
    Http(HttpEditor),
    /// HTTP+SSE (2024-11-05).
    Sse(SseEditor),
    /// Through the shim, which answers every call.
    Shim(Editor),
}

/// The connection broke before an answer: the call was executed once or not at all.
#[derive(Debug)]
pub(crate) struct BrokenConnection(pub(crate) String);

impl BrokenConnection {
    fn because(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

impl CallingEditor {
    pub(crate) async fn attempt(
        &mut self,
        tool: &str,
        nonce: &str,
    ) -> Result<Answer, BrokenConnection> {
        let calling = async {
            match self {
                Self::Http(editor) => editor.attempt(tool, nonce).await,
                Self::Sse(editor) => editor.attempt(tool, nonce).await,
                Self::Shim(editor) => Ok(editor.attempt(tool, nonce).await),
            }
        };
        let late = || BrokenConnection::because(format!("no answer within {CALL_LIMIT:?}"));
        timeout(CALL_LIMIT, calling).await.unwrap_or_else(|_| Err(late()))
    }
}

/// What every editor over HTTP has.
#[derive(Clone)]
struct Line {
    client: reqwest::Client,
    origin: String,
    token: String,
}

impl Line {
    fn to(gateway: &Gateway, keepalive: bool) -> Self {
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]);
        let client = client
            .pool_max_idle_per_host(if keepalive { 1 } else { 0 })
            .pool_idle_timeout(IDLE_LIMIT)
            .build()
            .expect("a client can be made");
        Self { client, origin: gateway.origin.clone(), token: gateway.token() }
    }

    fn post(&self, path: &str, message: &Value) -> reqwest::RequestBuilder {
        let request = self.client.post(format!("{}{path}", self.origin)).bearer_auth(&self.token);
        let request = request.header("content-type", "application/json").header("accept", BOTH);
        request.body(message.to_string())
    }
}

/// An editor over streamable HTTP.
pub(crate) struct HttpEditor {
    line: Line,
    path: String,
    /// `None` for a 2026-07-28 editor.
    session: Option<String>,
    calls: u64,
}

impl HttpEditor {
    /// An editor with a session, with or without a connection that it keeps.
    pub(crate) async fn with_session(gateway: &Gateway, path: &str, keepalive: bool) -> Self {
        let line = Line::to(gateway, keepalive);
        let answer = line.post(path, &initialize("2025-11-25")).send().await;
        let answer = answer.expect("the gateway answers");
        let session = answer.headers().get("mcp-session-id").expect("a session");
        let session = session.to_str().expect("a session id is text").to_owned();
        let told = line.post(path, &initialized()).header("mcp-session-id", &session).send().await;
        assert!(told.expect("the gateway answers").status().is_success());
        Self { line, path: path.to_owned(), session: Some(session), calls: 0 }
    }

    pub(crate) fn stateless(gateway: &Gateway, path: &str) -> Self {
        let line = Line::to(gateway, true);
        Self { line, path: path.to_owned(), session: None, calls: 0 }
    }

    async fn attempt(&mut self, tool: &str, nonce: &str) -> Result<Answer, BrokenConnection> {
        self.calls += 1;
        let mut message = call(self.calls, tool, nonce);
        let request = match &self.session {
            Some(session) => self.line.post(&self.path, &message).header("mcp-session-id", session),
            None => {
                message["params"]["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                });
                let request = self.line.post(&self.path, &message);
                let request = request.header("mcp-protocol-version", "2026-07-28");
                request.header("mcp-method", "tools/call").header("mcp-name", tool)
            }
        };
        let answer = request.send().await.map_err(BrokenConnection::because)?;
        let status = answer.status();
        let kind = answer.headers().get("content-type").cloned();
        let body = answer.bytes().await.map_err(BrokenConnection::because)?;
        if !status.is_success() {
            return Err(BrokenConnection(format!("{status}: {}", String::from_utf8_lossy(&body))));
        }
        let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let messages = if is_stream {
            let events = SseParser::new(1 << 24).push(&body).expect("events are small");
            events.into_iter().map(|event| event.data).filter(|data| !data.is_empty()).collect()
        } else {
            vec![body]
        };
        let id = Id::number(self.calls);
        let mut answers = messages.iter().filter_map(response_in);
        let answer = answers.next().ok_or_else(|| BrokenConnection("no answer in it".into()))?;
        assert!(answer.id == Some(id) && answers.next().is_none(), "exactly one answer");
        Ok(Answer::of(&answer))
    }
}

/// An editor over HTTP+SSE. Its session ends with its stream, and it opens another one.
pub(crate) struct SseEditor {
    line: Line,
    path: String,
    stream: Option<Stream>,
    calls: u64,
}

struct Stream {
    events: Events,
    post_path: String,
}

impl SseEditor {
    pub(crate) fn to(gateway: &Gateway, path: &str) -> Self {
        let line = Line::to(gateway, true);
        Self { line, path: path.to_owned(), stream: None, calls: 0 }
    }

    async fn attempt(&mut self, tool: &str, nonce: &str) -> Result<Answer, BrokenConnection> {
        self.calls += 1;
        let (id, message) = (Id::number(self.calls), call(self.calls, tool, nonce));
        loop {
            let mut stream = self.open().await;
            let posted = self.line.post(&stream.post_path, &message).send().await;
            let status = posted.map_err(BrokenConnection::because)?.status();
            // The session ended with its stream, and the call was not accepted.
            if status == 404 {
                continue;
            }
            if !status.is_success() {
                return Err(BrokenConnection(status.to_string()));
            }
            let answer = stream.answer_to(&id).await?;
            self.stream = Some(stream);
            return Ok(Answer::of(&answer));
        }
    }

    /// The open stream, or a new one.
    async fn open(&mut self) -> Stream {
        if let Some(stream) = self.stream.take() {
            return stream;
        }
        loop {
            match Stream::opened(&self.line, &self.path).await {
                Ok(stream) => return stream,
                Err(_) => sleep(REOPEN_INTERVAL).await,
            }
        }
    }
}

impl Stream {
    async fn opened(line: &Line, path: &str) -> Result<Self, BrokenConnection> {
        let request = line.client.get(format!("{}{path}", line.origin)).bearer_auth(&line.token);
        let answer = request.header("accept", "text/event-stream").send().await;
        let mut events = Events::of(answer.map_err(BrokenConnection::because)?);
        let (_, post_path) = events.next_text().await.ok_or_else(ended)?;
        let mut stream = Self { events, post_path };
        let first = line.post(&stream.post_path, &initialize("2024-11-05")).send().await;
        first.map_err(BrokenConnection::because)?;
        stream.answer_to(&Id::number(0)).await?;
        let told = line.post(&stream.post_path, &initialized()).send().await;
        told.map_err(BrokenConnection::because)?;
        Ok(stream)
    }

    async fn answer_to(&mut self, id: &Id) -> Result<Response, BrokenConnection> {
        loop {
            let (_, text) = self.events.next_text().await.ok_or_else(ended)?;
            match response_in(&Bytes::from(text)) {
                Some(answer) if answer.id.as_ref() == Some(id) => return Ok(answer),
                Some(answer) => panic!("an answer to another request: {:?}", answer.id),
                None => {}
            }
        }
    }
}

fn ended() -> BrokenConnection {
    BrokenConnection("the stream ended".into())
}

fn response_in(text: &Bytes) -> Option<Response> {
    match Message::parse(text) {
        Ok(Message::Response(response)) => Some(response),
        Ok(_) | Err(_) => None,
    }
}

fn call(id: u64, tool: &str, nonce: &str) -> Value {
    let params = json!({ "name": tool, "arguments": { "nonce": nonce } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn initialize(version: &str) -> Value {
    let client = json!({ "name": "soak", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}
