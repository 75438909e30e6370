//! An editor: an MCP client that checks that every request gets exactly one answer.
//!
//! - [`wire`]: single messages with arbitrary headers
//! - [`socket`]: raw bytes
//! - [`shim`]: `evermoor connect`, line by line
//! - [`answer`]: the outcome of a call
//! - [`hostile`]: an editor that attacks the gateway
//!
//! Depends on [`gateway`](crate::gateway) and [`scene`](crate::scene). Used by most scenarios.

pub mod answer;
pub mod hostile;
pub mod shim;
pub mod socket;
pub mod wire;

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::time::timeout;

use evermoor_core::protocol::envelope::{Id, Message, Notification, Outcome, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::sse;

use crate::PATIENCE;
use crate::gateway::http;
use crate::scene::programs::Process;

/// A client with a session.
pub struct Editor {
    wire: AttachedTransport,
    next: u64,
    /// Notifications received so far with the answers.
    pub notifications: Vec<Notification>,
    /// Time limit for an answer.
    pub patience: Duration,
}

enum AttachedTransport {
    Http { client: reqwest::Client, url: String, token: String, session: Option<String> },
    Shim { process: Box<Process>, input: ChildStdin },
}

impl Editor {
    pub async fn over_http(origin: &str, path: &str, token: &str) -> Self {
        let url = format!("{origin}{path}");
        let wire =
            AttachedTransport::Http { client: http(), url, token: token.to_owned(), session: None };
        Self::initialized(wire).await
    }

    pub async fn over_shim(home: &Path, upstream: Option<&str>) -> Self {
        let mut process = Process::evermoor(home, |command| {
            command.arg("connect").args(upstream).arg("--home").arg(home).stdin(Stdio::piped());
        });
        let input = process.child.stdin.take().expect("standard input was piped");
        Self::initialized(AttachedTransport::Shim { process: Box::new(process), input }).await
    }

    /// The same editor, with a new connection for each call.
    pub fn without_keepalive(mut self) -> Self {
        if let AttachedTransport::Http { client, .. } = &mut self.wire {
            let plain = reqwest::Client::builder().no_proxy().tls_certs_only([]);
            *client = plain.pool_max_idle_per_host(0).build().expect("a client can be made");
        }
        self
    }

    /// Editors that share this one's session and connections, but have their own request ids.
    pub fn crowd(&self, number: usize) -> Vec<Self> {
        let AttachedTransport::Http { client, url, token, session } = &self.wire else {
            panic!("an editor over the shim is alone")
        };
        let twin = |number: u64| {
            let (client, url) = (client.clone(), url.clone());
            let (token, session) = (token.clone(), session.clone());
            let wire = AttachedTransport::Http { client, url, token, session };
            Self {
                wire,
                next: (number + 1) * 1_000_000,
                notifications: Vec::new(),
                patience: PATIENCE,
            }
        };
        (0..number as u64).map(twin).collect()
    }

    async fn initialized(wire: AttachedTransport) -> Self {
        let mut editor = Self { wire, next: 0, notifications: Vec::new(), patience: PATIENCE };
        let params = serde_json::json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "scenario", "version": "1" },
        });
        editor.ask("initialize", &params).await;
        editor.tell("notifications/initialized").await;
        editor
    }

    /// Sends a request and returns its result.
    pub async fn ask(&mut self, method: &str, params: &serde_json::Value) -> serde_json::Value {
        let response = self.request(method, Some(Raw::of(params))).await;
        match response.outcome {
            Outcome::Result(result) => result.read().expect("a result is JSON"),
            Outcome::Error(error) => panic!("{method} failed: {error:?}"),
        }
    }

    /// Calls a tool and returns its whole result.
    pub async fn call(&mut self, tool: &str, arguments: &serde_json::Value) -> serde_json::Value {
        let params = serde_json::json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", &params).await
    }

    /// Sends a request and returns its only answer.
    pub async fn request(&mut self, method: &str, params: Option<Raw>) -> Response {
        self.next += 1;
        let id = Id::number(self.next);
        let request = Request::new(id.clone(), method, params);
        let messages = timeout(self.patience, self.exchange(request.to_bytes()));
        let messages = messages.await.unwrap_or_else(|_| panic!("{method} is not answered"));
        let mut answers = Vec::new();
        for message in messages {
            match message {
                Message::Response(response) => answers.push(response),
                Message::Notification(notification) => self.notifications.push(notification),
                Message::Request(request) => panic!("nobody asked for {}", request.method),
            }
        }
        assert_eq!(answers.len(), 1, "{method} has exactly one answer");
        let answer = answers.remove(0);
        assert_eq!(answer.id, Some(id), "the answer is for this request");
        answer
    }

    async fn tell(&mut self, method: &str) {
        let message = Notification::new(method, None).to_bytes();
        match &mut self.wire {
            AttachedTransport::Http { .. } => assert!(self.exchange(message).await.is_empty()),
            AttachedTransport::Shim { input, .. } => write_line(input, &message).await,
        }
    }

    /// Sends one message and returns everything that comes back for it.
    async fn exchange(&mut self, body: Bytes) -> Vec<Message> {
        match &mut self.wire {
            AttachedTransport::Http { client, url, token, session } => {
                let mut request = client
                    .post(url.as_str())
                    .bearer_auth(token)
                    .header("content-type", "application/json")
                    .header("accept", "application/json, text/event-stream")
                    .body(body);
                if let Some(session) = session {
                    request = request.header("mcp-session-id", session.as_str());
                }
                let answer = request.send().await.expect("the gateway answers");
                let status = answer.status();
                assert!(status.is_success(), "the gateway answered {status}");
                if let Some(id) = answer.headers().get("mcp-session-id") {
                    *session = Some(id.to_str().expect("a session id is text").to_owned());
                }
                let kind = answer.headers().get("content-type").cloned();
                let body = answer.bytes().await.expect("the answer is complete");
                let stream =
                    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
                let texts = match stream {
                    true => {
                        let events =
                            sse::SseParser::new(1 << 24).push(&body).expect("events are small");
                        // An event without data only carries an id.
                        let said = events.into_iter().map(|event| event.data);
                        said.filter(|data| !data.is_empty()).collect()
                    }
                    false if body.is_empty() => Vec::new(),
                    false => vec![body],
                };
                texts.iter().map(|text| Message::parse(text).expect("a message")).collect()
            }
            AttachedTransport::Shim { process, input } => {
                write_line(input, &body).await;
                let mut messages = Vec::new();
                loop {
                    let line = Bytes::from(process.line().await);
                    let message =
                        Message::parse(&line).expect("only messages are on standard output");
                    let last = matches!(message, Message::Response(_));
                    messages.push(message);
                    if last {
                        return messages;
                    }
                }
            }
        }
    }

    /// Closes the shim's standard input and waits until it exits.
    pub async fn leave(self) -> std::process::ExitStatus {
        match self.wire {
            AttachedTransport::Shim { mut process, input } => {
                drop(input);
                process.ended().await
            }
            AttachedTransport::Http { .. } => panic!("an editor over HTTP just goes"),
        }
    }
}

async fn write_line(input: &mut ChildStdin, message: &Bytes) {
    input.write_all(message).await.expect("the shim reads");
    input.write_all(b"\n").await.expect("the shim reads");
}
