//! Calls over HTTP, written and read as bytes, so that the client costs little next to what is
//! measured.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

/// What the result of a failed call contains.
pub(crate) const FAILED: &str = "\"isError\":true";

/// Where calls go.
#[derive(Clone)]
pub(crate) struct BenchEndpoint {
    pub(crate) address: SocketAddr,
    pub(crate) path: String,
    pub(crate) token: Option<String>,
    pub(crate) tool: String,
}

/// A session over one connection.
pub(crate) struct BenchConnection {
    stream: TcpStream,
    endpoint: BenchEndpoint,
    session: Option<String>,
    /// Reused for every answer; only the first `length` bytes are from the current one.
    buffer: Vec<u8>,
    length: usize,
}

/// A request that is written as it is, again and again.
pub(crate) struct PreparedCall {
    bytes: Vec<u8>,
    size: usize,
}

impl BenchEndpoint {
    fn request(&self, session: Option<&str>, body: &[u8]) -> Vec<u8> {
        let mut head = format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n",
            self.path,
            self.address,
            body.len()
        );
        if let Some(token) = &self.token {
            head += &format!("authorization: Bearer {token}\r\n");
        }
        if let Some(session) = session {
            head += &format!("mcp-session-id: {session}\r\n");
        }
        [head.as_bytes(), b"\r\n", body].concat()
    }
}

impl BenchConnection {
    /// Connects and completes the handshake.
    pub(crate) fn open(endpoint: &BenchEndpoint) -> io::Result<Self> {
        let stream = TcpStream::connect(endpoint.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let (endpoint, buffer) = (endpoint.clone(), vec![0; 64 << 10]);
        let mut connection = Self { stream, endpoint, session: None, buffer, length: 0 };
        let body = connection.send(&initialize())?;
        if !body.contains("serverInfo") {
            return Err(io::Error::other(body));
        }
        let head = String::from_utf8_lossy(connection.received());
        let session = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.to_owned())
        });
        connection.session = session;
        connection.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
        Ok(connection)
    }

    fn send(&mut self, body: &str) -> io::Result<String> {
        let bytes = self.endpoint.request(self.session.as_deref(), body.as_bytes());
        self.stream.write_all(&bytes)?;
        self.receive()?;
        Ok(String::from_utf8_lossy(self.received()).into_owned())
    }

    /// A call with a text of this size.
    pub(crate) fn prepare(&self, size: usize) -> PreparedCall {
        let body = call(1, &self.endpoint.tool, size);
        PreparedCall {
            bytes: self.endpoint.request(self.session.as_deref(), body.as_bytes()),
            size,
        }
    }

    /// Makes a call and returns how long it took.
    pub(crate) fn call(&mut self, call: &PreparedCall) -> Duration {
        let began = Instant::now();
        self.stream.write_all(&call.bytes).expect("the other side reads");
        self.receive().expect("the call is answered");
        let took = began.elapsed();
        check(self.received(), call.size);
        took
    }

    fn receive(&mut self) -> io::Result<()> {
        self.length = 0;
        while !is_complete(self.received()) {
            if self.length == self.buffer.len() {
                self.buffer.resize(2 * self.length, 0);
            }
            match self.stream.read(&mut self.buffer[self.length..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => self.length += read,
            }
        }
        Ok(())
    }

    fn received(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

/// Makes `calls` calls over `concurrency` connections and returns how many were answered per second.
pub(crate) fn throughput(
    endpoint: &BenchEndpoint,
    concurrency: usize,
    size: usize,
    calls: usize,
) -> f64 {
    let connections: Vec<_> = (0..concurrency)
        .map(|_| {
            let connection = BenchConnection::open(endpoint).expect("a session can be opened");
            let call = connection.prepare(size);
            connection.stream.set_nonblocking(true).expect("a socket can be made asynchronous");
            (connection.stream, call)
        })
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made").block_on(async {
        let began = Instant::now();
        let mut running = tokio::task::JoinSet::new();
        for (stream, call) in connections {
            let stream = tokio::net::TcpStream::from_std(stream).expect("this is a socket");
            running.spawn(repeat(stream, call, calls / concurrency));
        }
        running.join_all().await;
        calls as f64 / began.elapsed().as_secs_f64()
    })
}

async fn repeat(mut stream: tokio::net::TcpStream, call: PreparedCall, calls: usize) {
    let mut received = Vec::with_capacity(call.size + 4096);
    for _ in 0..calls {
        received.clear();
        stream.write_all(&call.bytes).await.expect("the other side reads");
        while !is_complete(&received) {
            let read = stream.read_buf(&mut received).await.expect("the call is answered");
            assert!(read > 0, "the connection stays open");
        }
        check(&received, call.size);
    }
}

pub(crate) fn initialize() -> String {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "bench", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string()
}

/// A call with a text of this size.
pub(crate) fn call(id: u64, tool: &str, size: usize) -> String {
    let params = json!({ "name": tool, "arguments": { "text": "x".repeat(size) } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// Checks that a response has the text of its call.
fn check(response: &[u8], size: usize) {
    let start = || String::from_utf8_lossy(&response[..response.len().min(1000)]);
    assert!(response.starts_with(b"HTTP/1.1 200") && response.len() > size, "{}", start());
    assert!(!start().contains(FAILED), "{}", start());
}

/// Whether the bytes are a whole response.
fn is_complete(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(4096)];
    let Some(head) = start.windows(4).position(|part| part == b"\r\n\r\n") else { return false };
    let Ok(text) = std::str::from_utf8(&bytes[..head]) else { return true };
    let header = |wanted: &str| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case(wanted).then_some(value)
        })
    };
    if let Some(length) = header("content-length") {
        return bytes.len() >= head + 4 + length.parse().unwrap_or(0);
    }
    match header("transfer-encoding") {
        Some(_) => bytes.ends_with(b"\r\n0\r\n\r\n"),
        None => true,
    }
}
