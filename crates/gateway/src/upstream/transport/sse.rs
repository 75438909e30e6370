//! HTTP+SSE, the transport of 2024-11-05: a stream of events for one way, POSTs for the other.
//!
//! # Theory of operation
//! The stream's first event names the address to post to; that address is the session. Everything
//! the server says comes on the stream, so the stream is the connection: when it ends, the session
//! is dead and a new one is made. A POST says only whether the message arrived.

use std::time::Duration;

use futures_util::StreamExt as _;
use http::{HeaderValue, StatusCode, header};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::envelope::Message;
use evermoor_core::protocol::sse;
use evermoor_core::protocol::sse::Event;

use super::connection::{Connected, Connection, LARGEST_REPLY, excerpt};
use super::duplex::{self, Inbox, Outgoing, SendError};
use super::handshake;
use super::http::{Clients, body_or_nothing, errors};

/// A server that takes longer to name its address has none.
const ENDPOINT_LIMIT: Duration = Duration::from_secs(10);
/// How long a POST under way may outlive the stream.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// Opens the stream, learns where to post, and shakes hands.
pub(crate) async fn connect(
    clients: Clients,
    url: Url,
    tasks: &TaskTracker,
) -> Result<Connected, Failure> {
    let opened = timeout(ENDPOINT_LIMIT, open(&clients, &url)).await;
    let (events, endpoint) = opened.unwrap_or_else(|_| Err(errors::silent(&url)))?;
    let (channel, inbox, outgoing, incoming) = duplex::channel();
    tasks.spawn(read(events, inbox.clone(), url));
    tasks.spawn(write(outgoing, inbox, clients, endpoint, tasks.clone()));
    let handshake = handshake::initialize(&channel).await?;
    Ok(Connected { connection: Connection::Duplex(Box::new(channel)), handshake, incoming })
}

async fn open(clients: &Clients, url: &Url) -> Result<(Stream, Url), Failure> {
    let answer = clients
        .repeatable()
        .get(url.clone())
        .header(header::ACCEPT, HeaderValue::from_static("text/event-stream"))
        .send()
        .await
        .map_err(|error| errors::failure(url, &error))?;
    let kind = answer.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let stream = kind.is_some_and(|kind| kind.starts_with(b"text/event-stream"));
    if !answer.status().is_success() || !stream {
        return Err(errors::refused(url, answer).await);
    }
    let mut events = Stream::new(answer);
    while let Some(event) = events.next().await {
        if event.kind == "endpoint" {
            let endpoint = own_endpoint(url, &event.data)?;
            return Ok((events, endpoint));
        }
    }
    Err(errors::not_mcp(url))
}

/// The address to post to. Only the server's own: what we send is for it and nobody else.
fn own_endpoint(url: &Url, named: &[u8]) -> Result<Url, Failure> {
    let named = std::str::from_utf8(named).unwrap_or_default();
    match url.join(named) {
        Ok(endpoint) if endpoint.origin() == url.origin() => Ok(endpoint),
        Ok(_) | Err(_) => {
            let what =
                format!("{} wants messages to be sent to another server.", errors::place(url));
            Err(Failure::new(Code::NotMcp, what, "Check its address; this is not followed."))
        }
    }
}

async fn read(mut events: Stream, inbox: Inbox, url: Url) {
    let stream = async {
        while let Some(event) = events.next().await {
            if let Ok(message) = Message::parse(&event.data) {
                inbox.deliver(message);
            }
        }
    };
    tokio::select! {
        biased;
        () = stream => {}
        () = inbox.closed() => {}
    }
    inbox.close(errors::ended(&url));
}

/// Posts each message as it comes; they do not wait for each other.
async fn write(
    mut outgoing: mpsc::Receiver<Outgoing>,
    inbox: Inbox,
    clients: Clients,
    endpoint: Url,
    tasks: TaskTracker,
) {
    loop {
        let next = tokio::select! {
            biased;
            next = outgoing.recv() => next,
            () = inbox.closed() => None,
        };
        let Some(Outgoing { text, fate }) = next else { return };
        // Cancelled while it waited: it must never be sent.
        if fate.is_closed() {
            continue;
        }
        let (inbox, endpoint) = (inbox.clone(), endpoint.clone());
        let posting = clients
            .once()
            .post(endpoint.clone())
            .header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(text)
            .send();
        tasks.spawn(async move {
            let sent = tokio::select! {
                biased;
                answer = posting => arrived(answer, &inbox, &endpoint).await,
                // Some servers never answer a POST for a session that they have ended.
                () = past(&inbox) => Err(SendError::Unknown("the stream ended".into())),
            };
            let _ = fate.send(sent);
        });
    }
}

/// What the answer to a POST, or the lack of one, says about its message.
async fn arrived(
    answer: Result<reqwest::Response, reqwest::Error>,
    inbox: &Inbox,
    endpoint: &Url,
) -> Result<(), SendError> {
    match answer {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => {
            let refused = refused(answer, endpoint).await;
            if let SendError::NotSent(_) = refused {
                inbox.close(errors::forgotten(endpoint));
            }
            Err(refused)
        }
        Err(error) if errors::never_sent(&error) => {
            inbox.close(errors::failure(endpoint, &error));
            Err(SendError::NotSent(errors::innermost(&error)))
        }
        Err(error) => Err(SendError::Unknown(errors::innermost(&error))),
    }
}

/// Resolves when the stream has ended, and whatever was still being said about a POST has been.
async fn past(inbox: &Inbox) {
    inbox.closed().await;
    sleep(LAST_WORDS).await;
}

/// What a refusal to take a message means: whether it can have been read, and who may send it again.
async fn refused(answer: reqwest::Response, endpoint: &Url) -> SendError {
    let status = answer.status();
    if status == StatusCode::UNAUTHORIZED {
        return SendError::AuthRequired(errors::refused(endpoint, answer).await);
    }
    let said = excerpt(&body_or_nothing(answer).await);
    let said = format!("{status}: {said}").trim_end_matches([':', ' ']).to_owned();
    match status {
        StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::BAD_REQUEST => {
            SendError::NotSent(format!("it answered {said}"))
        }
        StatusCode::TOO_MANY_REQUESTS => SendError::Busy,
        StatusCode::SERVICE_UNAVAILABLE => SendError::Unavailable(said),
        status if status.is_server_error() => SendError::Unknown(format!("it answered {said}")),
        _ => SendError::Refused(format!("The upstream answered {said}")),
    }
}

/// The events of the server's stream.
struct Stream {
    chunks: futures_util::stream::BoxStream<'static, Result<bytes::Bytes, reqwest::Error>>,
    parser: sse::Parser,
    ready: std::vec::IntoIter<Event>,
}

impl Stream {
    fn new(answer: reqwest::Response) -> Self {
        let (chunks, parser) = (answer.bytes_stream().boxed(), sse::Parser::new(LARGEST_REPLY));
        Self { chunks, parser, ready: Vec::new().into_iter() }
    }

    /// The next event; `None` when the stream has ended, however it did.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.next() {
                return Some(event);
            }
            let chunk = self.chunks.next().await?.ok()?;
            self.ready = self.parser.push(&chunk).ok()?.into_iter();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::transport::connection::CallError;
    use evermoor_core::config::Reach;
    use evermoor_core::protocol::envelope::{Id, Request};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    /// What becomes of a call whose POST gets this answer, or none before the stream ends.
    #[expect(clippy::disallowed_methods, reason = "the runtime of the test ends it")]
    async fn posted(answer: Option<&str>) -> CallError {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}/message", server.local_addr().unwrap());
        let endpoint = Url::parse(&endpoint).unwrap();
        let (channel, inbox, outgoing, _incoming) = duplex::channel();
        let reach = Reach::default();
        let clients = Clients::new(&endpoint, true, &reach, &Default::default()).await.unwrap();
        drop(tokio::spawn(write(outgoing, inbox.clone(), clients, endpoint, TaskTracker::new())));
        let serve = async {
            let (mut socket, _) = server.accept().await.unwrap();
            assert_ne!(socket.read(&mut [0; 4096]).await.unwrap(), 0);
            match answer {
                Some(answer) => socket.write_all(answer.as_bytes()).await.unwrap(),
                None => inbox.close(errors::ended(&Url::parse("http://127.0.0.1/sse").unwrap())),
            }
            socket
        };
        let request = Request::new(Id::number(1), "tools/call", None);
        let (answer, _socket) = tokio::join!(channel.call(&request, None), serve);
        answer.err().expect("nothing answers the call itself")
    }

    #[tokio::test]
    async fn a_post_that_is_never_answered_ends_with_the_stream() {
        assert!(matches!(posted(None).await, CallError::Unknown { .. }));
    }

    #[tokio::test]
    async fn only_a_post_that_was_turned_away_may_be_sent_again() {
        let gone = posted(Some("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")).await;
        assert!(matches!(gone, CallError::NotSent(_)), "{gone}");
        let lost = posted(Some("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")).await;
        assert!(matches!(lost, CallError::Unknown { .. }), "{lost}");
    }

    #[test]
    fn only_an_address_of_the_same_server_is_posted_to() {
        let url = Url::parse("http://127.0.0.1:39300/sse").unwrap();
        let own = own_endpoint(&url, b"/messages?session_id=1").unwrap();
        assert_eq!(own.as_str(), "http://127.0.0.1:39300/messages?session_id=1");
        assert!(own_endpoint(&url, b"http://127.0.0.1:39300/m").is_ok());
        for foreign in ["http://evil.com/", "//evil.com/m", "http://127.0.0.1:1/m", "file:///etc"] {
            assert!(own_endpoint(&url, foreign.as_bytes()).is_err(), "{foreign}");
        }
    }
}
