//! An editor with a valid token that attacks the gateway.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use serde_json::{Value, json};

use evermoor_platform::process::descriptors;

use crate::gateway::Gateway;

/// What a hostile editor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trick {
    /// Makes 40 calls and does not read their answers.
    UnreadAnswers,
    /// Requests the list of tools 40 times and does not read the answers.
    UnreadLists,
    /// Makes 20 calls in one batch.
    Batch,
    /// Opens 30 sessions under names of 3 MB.
    LongNames,
    /// Subscribes to more resources than a client can, and to one with a long URI.
    Subscriptions,
    /// Makes 40 calls with 3 MB of arguments each.
    LargeRequests,
    /// Begins 200 requests of 3 MB and sends no more than their start.
    UnfinishedRequests,
    /// Opens 5,000 connections that do nothing.
    IdleConnections,
    /// Opens 2,000 sessions.
    Sessions,
    /// Sends a request with 100,000 members.
    Members,
    /// Sends a request of 100,000 arrays in one another.
    Depth,
    /// Calls a tool under a name that only looks like a member of the request.
    LookAlikes,
    /// Sends two `Origin` headers, of which one is its own.
    DoubledOrigin,
    /// Sends a second request behind the first, whose lines end in a way that parsers disagree about.
    PipelinedHead,
}

impl Trick {
    pub const ALL: [Self; 14] = [
        Self::UnreadAnswers,
        Self::UnreadLists,
        Self::Batch,
        Self::LongNames,
        Self::Subscriptions,
        Self::LargeRequests,
        Self::UnfinishedRequests,
        Self::IdleConnections,
        Self::Sessions,
        Self::Members,
        Self::Depth,
        Self::LookAlikes,
        Self::DoubledOrigin,
        Self::PipelinedHead,
    ];
}

/// An editor that attacks the gateway.
pub struct HostileEditor {
    address: String,
    token: String,
    path: String,
    /// The tool that it calls.
    tool: String,
    /// The connections that it keeps open.
    pub connections: Vec<TcpStream>,
    /// What it was answered last.
    pub answer: String,
}

impl HostileEditor {
    /// An editor of its own, which calls `tool` at `path`.
    pub async fn at(gateway: &Gateway, name: &str, path: &str, tool: &str) -> Self {
        // Some tricks need more connections than the system allows at first.
        descriptors::raise_limit();
        Self {
            address: gateway.origin.trim_start_matches("http://").to_owned(),
            token: gateway.add_editor(name).await,
            path: path.to_owned(),
            tool: tool.to_owned(),
            connections: Vec::new(),
            answer: String::new(),
        }
    }

    /// Plays a trick, and keeps the connections open that it needs. A gateway that closes one, or
    /// accepts no more, defends itself.
    pub async fn play(&mut self, trick: Trick) {
        match trick {
            Trick::UnreadAnswers => {
                let session = self.session().await;
                for number in 0..40 {
                    let call = self.call(number, json!({ "nonce": format!("unread {number}") }));
                    let request = self.post(&session, &call.to_string());
                    self.send(request.as_bytes()).await;
                }
            }
            Trick::UnreadLists => {
                let session = self.session().await;
                for number in 0..40 {
                    let list = json!({ "jsonrpc": "2.0", "id": number, "method": "tools/list" });
                    let request = self.post(&session, &list.to_string());
                    self.send(request.as_bytes()).await;
                }
            }
            Trick::Batch => {
                let session = self.session_of("2025-03-26", "hostile").await;
                let calls: Vec<_> = (0..20).map(|number| self.call(number, json!({}))).collect();
                let request = self.post(&session, &json!(calls).to_string());
                self.send(request.as_bytes()).await;
            }
            Trick::LongNames => {
                let name = "x".repeat(3 << 20);
                for _ in 0..30 {
                    self.session_of("2025-06-18", &name).await;
                }
            }
            Trick::Subscriptions => {
                let session = self.session().await;
                let subscribe = |uri: String| {
                    let params = json!({ "uri": uri });
                    json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": params })
                        .to_string()
                };
                for number in 0..1_025 {
                    let uri = format!("x://{number}/{}", "x".repeat(900));
                    self.answer = self.exchange(&self.post(&session, &subscribe(uri))).await;
                }
                let long = self.post(&session, &subscribe("x".repeat(10_000)));
                self.answer += &self.exchange(&long).await;
            }
            Trick::LargeRequests => {
                let session = self.session().await;
                let filler = "x".repeat(3 << 20);
                for number in 0..40 {
                    let call = self.call(number, json!({ "nonce": "large", "filler": filler }));
                    let request = self.post(&session, &call.to_string());
                    self.send(request.as_bytes()).await;
                }
            }
            Trick::UnfinishedRequests => {
                let whole = self.post("none", &"x".repeat(3 << 20));
                for _ in 0..200 {
                    self.send(&whole.as_bytes()[..1 << 20]).await;
                }
            }
            Trick::IdleConnections => {
                let request = self.post("none", "{}");
                for _ in 0..5_000 {
                    self.send(request.as_bytes()).await;
                }
            }
            Trick::Sessions => {
                for _ in 0..2_000 {
                    self.session().await;
                }
            }
            Trick::Members => {
                let members = (0..100_000).map(|number| format!("\"m{number}\":0"));
                let members = members.collect::<Vec<_>>().join(",");
                let call = format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{members}}}}}"#
                );
                self.ask(&call).await;
            }
            Trick::Depth => {
                let depth = "[".repeat(100_000) + &"]".repeat(100_000);
                let call =
                    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{depth}}}"#);
                self.ask(&call).await;
            }
            Trick::LookAlikes => {
                let tool = &self.tool;
                let call = format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","Name":"other","arguments":{{}}}}}}"#
                );
                let answer = self.ask(&call).await;
                assert!(answer.contains("\"error\""), "{answer}");
            }
            Trick::DoubledOrigin => {
                let origin = format!("http://{}", self.address);
                let headers = format!("Origin: {origin}\r\nOrigin: https://evil.example\r\n");
                let request = self.post_with(&headers, "none", "{}");
                let answer = self.exchange(&request).await;
                assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
            }
            Trick::PipelinedHead => {
                let first = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
                let second = first.replacen("\r\n", "\n", 1);
                let answers = self.exchange_all(&(first + &second)).await;
                for status in ["HTTP/1.1 200", "HTTP/1.1 400"] {
                    assert_eq!(answers.matches(status).count(), 1, "{answers}");
                }
            }
        }
    }

    /// Calls the tool again and again, four times at once, and throws the answers away.
    pub async fn call_forever(&mut self) {
        let session = self.session().await;
        let call = self.call(1, json!({ "nonce": "forever" })).to_string();
        let request = self.post_with("Connection: close\r\n", &session, &call);
        let calling = || async {
            loop {
                let Ok(mut stream) = TcpStream::connect(&self.address).await else { continue };
                // The gateway may end the connection at any time.
                let _ = stream.write_all(request.as_bytes()).await;
                let mut chunk = vec![0; 1 << 16];
                while stream.read(&mut chunk).await.is_ok_and(|count| count > 0) {}
            }
        };
        tokio::join!(calling(), calling(), calling(), calling());
    }

    /// Reads one connection to the end of its response.
    pub async fn read(stream: &mut TcpStream) -> String {
        Self::read_until(stream, is_complete).await
    }

    /// Reads one connection until it closes or this is reached.
    async fn read_until(stream: &mut TcpStream, reached: fn(&[u8]) -> bool) -> String {
        let mut read = Vec::new();
        let mut chunk = vec![0; 1 << 16];
        loop {
            match timeout(Duration::from_secs(20), stream.read(&mut chunk)).await {
                Ok(Ok(count)) if count > 0 => read.extend_from_slice(&chunk[..count]),
                Ok(Ok(_) | Err(_)) | Err(_) => break,
            }
            if reached(&read) {
                break;
            }
        }
        String::from_utf8_lossy(&read).into_owned()
    }

    fn call(&self, number: u64, arguments: Value) -> Value {
        let params = json!({ "name": self.tool, "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params })
    }

    /// Opens a session. An empty id if the gateway refuses.
    async fn session(&mut self) -> String {
        self.session_of("2025-06-18", "hostile").await
    }

    /// Opens a session of this version, under this name.
    async fn session_of(&mut self, version: &str, name: &str) -> String {
        let client = json!({ "name": name, "version": "1" });
        let params =
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answer = self.exchange(&self.post("", &hello.to_string())).await;
        let head = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        head.unwrap_or_default().to_owned()
    }

    /// Sends one message in a session of its own, and returns the whole response.
    async fn ask(&mut self, message: &str) -> String {
        let session = self.session().await;
        self.exchange(&self.post(&session, message)).await
    }

    async fn exchange(&self, request: &str) -> String {
        self.exchange_until(request, is_complete).await
    }

    /// Everything that is answered until the gateway closes the connection.
    async fn exchange_all(&self, requests: &str) -> String {
        self.exchange_until(requests, |_| false).await
    }

    async fn exchange_until(&self, requests: &str, reached: fn(&[u8]) -> bool) -> String {
        let Ok(mut stream) = TcpStream::connect(&self.address).await else { return String::new() };
        let _ = stream.write_all(requests.as_bytes()).await;
        Self::read_until(&mut stream, reached).await
    }

    /// Sends bytes on a connection that stays open. It is not waited for longer than a moment.
    async fn send(&mut self, bytes: &[u8]) {
        let connecting = TcpStream::connect(&self.address);
        let Ok(Ok(mut stream)) = timeout(Duration::from_secs(1), connecting).await else { return };
        let _ = timeout(Duration::from_millis(200), stream.write_all(bytes)).await;
        self.connections.push(stream);
    }

    fn post(&self, session: &str, body: &str) -> String {
        self.post_with("", session, body)
    }

    fn post_with(&self, headers: &str, session: &str, body: &str) -> String {
        let Self { address, token, path, .. } = self;
        let session = match session {
            "" => String::new(),
            session => format!("Mcp-Session-Id: {session}\r\n"),
        };
        format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n{session}{headers}\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }
}

/// Whether this is a whole response with a length.
fn is_complete(read: &[u8]) -> bool {
    let Some(end) = read.windows(4).position(|part| part == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&read[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    length.is_some_and(|length: usize| read.len() >= end + 4 + length)
}
