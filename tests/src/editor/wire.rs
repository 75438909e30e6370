//! The endpoint as a client sees it on the wire: single messages with arbitrary headers.

use std::collections::VecDeque;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::time::timeout;

use evermoor_core::protocol::sse::SseParser;

use crate::PATIENCE;
use crate::gateway::{Gateway, http};

/// A client that sends only what the test says.
#[derive(Clone)]
pub struct Wire {
    client: reqwest::Client,
    url: String,
    token: String,
    headers: Vec<(String, String)>,
}

/// The response to one message.
#[derive(Debug)]
pub struct WireAnswer {
    pub status: StatusCode,
    pub session: Option<String>,
    /// Every JSON text in the response, with its event id if it came as an event.
    pub messages: Vec<(Option<String>, Value)>,
}

impl Wire {
    pub fn to(gateway: &Gateway, path: &str) -> Self {
        let url = format!("{}{path}", gateway.origin);
        Self { client: http(), url, token: gateway.token(), headers: Vec::new() }
    }

    /// A client of a server without a gateway in between.
    pub fn direct(url: &str) -> Self {
        Self { client: http(), url: url.to_owned(), token: "none".to_owned(), headers: Vec::new() }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same client with another editor's token.
    pub fn with_token(self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self }
    }

    /// The same client at another gateway.
    pub fn at(self, gateway: &Gateway, path: &str) -> Self {
        Self { url: format!("{}{path}", gateway.origin), ..self }
    }

    /// Completes the handshake and continues in the session.
    pub async fn initialized(self, revision: &str, capabilities: Value) -> Self {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": { "name": "wire", "version": "1" },
        });
        let answer = self.post(&request(0, "initialize", params)).await;
        let session = answer.session.expect("a session");
        let wire = self.with("mcp-session-id", &session);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(wire.post(&initialized).await.status, StatusCode::ACCEPTED);
        wire
    }

    pub async fn send(&self, method: Method, body: Option<&Value>, accept: &str) -> Response {
        let mut request = self
            .client
            .request(method, &self.url)
            .bearer_auth(&self.token)
            .header("accept", accept);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(body) = body {
            let body = body.to_string();
            request = request.header("content-type", "application/json").body(body);
        }
        let answer = timeout(PATIENCE, request.send()).await.expect("an answer in time");
        answer.expect("the gateway answers")
    }

    /// Posts a message and reads the whole response.
    pub async fn post(&self, message: &Value) -> WireAnswer {
        let both = "application/json, text/event-stream";
        let answer = self.send(Method::POST, Some(message), both).await;
        let status = answer.status();
        let header = |name: &str| {
            answer
                .headers()
                .get(name)
                .map(|value| value.to_str().expect("a header is text").to_owned())
        };
        let (session, kind) = (header("mcp-session-id"), header("content-type"));
        if kind.is_some_and(|kind| kind == "text/event-stream") {
            let mut events = WireEvents::of(answer);
            let mut messages = Vec::new();
            while let Some(event) = events.next().await {
                messages.push(event);
            }
            return WireAnswer { status, session, messages };
        }
        let body = answer.bytes().await.expect("a whole body");
        let messages = match body.is_empty() {
            true => Vec::new(),
            false => vec![(None, serde_json::from_slice(&body).expect("JSON"))],
        };
        WireAnswer { status, session, messages }
    }

    /// Posts a text without a content type.
    pub async fn plain(&self, text: &str) -> StatusCode {
        let request = self.client.post(&self.url).bearer_auth(&self.token).body(text.to_owned());
        request.send().await.expect("the gateway answers").status()
    }

    /// Posts a 2026-07-28 message with its headers.
    pub async fn newer(&self, id: u64, method: &str, params: Value) -> WireAnswer {
        let (wire, message) = self.stating(id, method, params);
        wire.post(&message).await
    }

    /// A 2026-07-28 message and the client that sends it.
    pub fn stating(&self, id: u64, method: &str, mut params: Value) -> (Self, Value) {
        let capabilities = params.as_object_mut().expect("an object").remove("capabilities");
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities.unwrap_or(json!({})),
        });
        let mut wire =
            self.clone().with("mcp-protocol-version", "2026-07-28").with("mcp-method", method);
        if let Some(name) = params.get("name").or(params.get("uri")).and_then(Value::as_str) {
            wire = wire.with("mcp-name", name);
        }
        (wire, request(id, method, params))
    }

    /// Opens the notification stream, or resumes it after this event.
    pub async fn listen(&self, last_event: Option<&str>) -> WireEvents {
        let wire = match last_event {
            Some(id) => self.clone().with("last-event-id", id),
            None => self.clone(),
        };
        let answer = wire.send(Method::GET, None, "text/event-stream").await;
        assert_eq!(answer.status(), StatusCode::OK);
        WireEvents::of(answer)
    }
}

impl WireAnswer {
    /// The last message, which is the answer.
    pub fn last(&self) -> &Value {
        &self.messages.last().expect("an answer").1
    }

    pub fn code(&self) -> Option<i64> {
        self.last()["error"]["code"].as_i64()
    }
}

/// A stream of events as they arrive.
pub struct WireEvents {
    chunks: BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    parser: SseParser,
    ready: VecDeque<(Option<String>, String)>,
}

impl WireEvents {
    pub fn of(answer: Response) -> Self {
        let (chunks, parser) = (answer.bytes_stream().boxed(), SseParser::new(1 << 24));
        Self { chunks, parser, ready: VecDeque::new() }
    }

    /// The next message and its event id; `None` at the end. Events without data are skipped.
    pub async fn next(&mut self) -> Option<(Option<String>, Value)> {
        loop {
            let (id, text) = self.next_text().await?;
            if !text.is_empty() {
                return Some((id, serde_json::from_str(&text).expect("JSON")));
            }
        }
    }

    /// The next event, unparsed.
    pub async fn next_text(&mut self) -> Option<(Option<String>, String)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let chunk = timeout(PATIENCE, self.chunks.next()).await.expect("an event in time")?;
            let events = self.parser.push(&chunk.ok()?).expect("events are small");
            self.ready.extend(events.into_iter().map(|event| {
                let text = String::from_utf8(event.data.to_vec()).expect("events are text");
                (event.id.as_deref().map(str::to_owned), text)
            }));
        }
    }
}

pub fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}
