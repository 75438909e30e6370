//! The gateway's end of the private socket of stdio shims, which a test plays frame by frame.

use std::path::Path;

use bytes::Bytes;
use evermoor_core::protocol::envelope::{Id, Message, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::shim_frames::{
    Frame, FrameDecoder, FrameKind, Hello, MessageHead, prefix,
};
use evermoor_platform::ipc::local_socket::{LocalListener, LocalReader, LocalWriter, connect};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::PATIENCE;

/// Where shims connect instead of to the gateway in the same home.
pub struct ShimGateway(LocalListener);

/// One end of a connection.
pub struct FrameStream {
    reader: LocalReader,
    writer: LocalWriter,
    decoder: FrameDecoder,
}

impl ShimGateway {
    /// Takes the place of the running gateway in `home`.
    pub fn replace(home: &Path) -> Self {
        Self(LocalListener::open(&home.join("run/shim.sock")).expect("the folder is ours"))
    }

    /// The next shim, before anything was read from it.
    pub async fn accept(&self) -> FrameStream {
        let accepted = timeout(PATIENCE, self.0.accept()).await.expect("a shim connects in time");
        FrameStream::of(accepted.expect("it can be accepted"))
    }

    /// The next shim, with its session.
    pub async fn session(&self) -> FrameStream {
        let mut stream = self.welcome().await;
        let (number, request) = stream.request().await;
        assert_eq!(request.method, "initialize");
        let head = MessageHead {
            status: 200,
            headers: vec![("mcp-session-id".into(), "a session".into())],
        };
        let result = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "fake", "version": "1" } });
        stream.answer_with(number, &head, &Response::result(request.id, Raw::of(&result))).await;
        let initialized = stream.next().await.expect("the handshake is completed");
        let accepted = MessageHead { status: 202, headers: Vec::new() };
        stream.send(FrameKind::Whole, initialized.number, &head_bytes(&accepted)).await;
        stream
    }

    /// The next shim, once it has presented its token.
    pub async fn welcome(&self) -> FrameStream {
        let mut stream = self.accept().await;
        assert_eq!(stream.next().await.expect("it presents itself").kind, FrameKind::Hello);
        stream.send(FrameKind::Welcome, 0, b"").await;
        stream
    }
}

impl FrameStream {
    /// Connects to the running gateway in `home` as a shim would.
    pub async fn connect(home: &Path) -> Self {
        Self::of(connect(&home.join("run/shim.sock")).await.expect("a gateway listens"))
    }

    fn of((reader, writer): (LocalReader, LocalWriter)) -> Self {
        Self { reader, writer, decoder: FrameDecoder::new(64 << 20) }
    }

    pub async fn hello(&mut self, token: &str, path: &str) {
        let (token, path, agent) = (token.to_owned(), path.to_owned(), "evermoor-connect/1".into());
        let hello = serde_json::to_vec(&Hello { token, path, agent }).expect("texts serialise");
        self.send(FrameKind::Hello, 0, &hello).await;
    }

    pub async fn send(&mut self, kind: FrameKind, number: u32, payload: &[u8]) {
        let bytes = [&prefix(kind, number, payload.len())[..], payload].concat();
        self.write(&bytes).await;
    }

    pub async fn write(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.expect("the other end reads");
    }

    /// Sends a request with these headers.
    pub async fn post(&mut self, number: u32, headers: &[(&str, &str)], message: &Message) {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let head = MessageHead { status: 0, headers: headers.iter().map(owned).collect() };
        let payload = [head_bytes(&head), message.to_bytes().to_vec()].concat();
        self.send(FrameKind::Post, number, &payload).await;
    }

    /// The next frame; `None` when the other end has closed the connection.
    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.decoder.decode().expect("frames are valid") {
                return Some(frame);
            }
            let read = timeout(PATIENCE, self.reader.read_buf(self.decoder.space()));
            match read.await.expect("something arrives in time") {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Reads at least this many bytes of what follows, whatever they are.
    pub async fn read_at_least(&mut self, least: usize) {
        let mut read = 0;
        while read < least {
            let mut bytes = [0; 4096];
            read += self.reader.read(&mut bytes).await.expect("the other end writes");
        }
    }

    /// The next response, in one frame.
    pub async fn response(&mut self) -> (MessageHead, Bytes) {
        let frame = self.next().await.expect("a response arrives");
        assert_eq!(frame.kind, FrameKind::Whole);
        MessageHead::split(frame.payload).expect("a response has a head")
    }

    /// The next request that is not for the notification stream, and its number.
    pub async fn request(&mut self) -> (u32, Request) {
        loop {
            let frame = self.next().await.expect("a request arrives");
            if frame.kind != FrameKind::Post {
                continue;
            }
            let (_, body) = MessageHead::split(frame.payload).expect("a request has a head");
            if let Message::Request(request) = Message::parse(&body).expect("a message") {
                return (frame.number, request);
            }
        }
    }

    /// Answers a call with a text.
    pub async fn answer(&mut self, number: u32, id: Id, text: &str) {
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        let head = MessageHead { status: 200, headers: Vec::new() };
        self.answer_with(number, &head, &Response::result(id, Raw::of(&result))).await;
    }

    async fn answer_with(&mut self, number: u32, head: &MessageHead, response: &Response) {
        let payload = [head_bytes(head), response.to_bytes().to_vec()].concat();
        self.send(FrameKind::Whole, number, &payload).await;
    }
}

/// The start of a payload.
fn head_bytes(head: &MessageHead) -> Vec<u8> {
    head.to_bytes().expect("its headers are short")
}
