//! HTTP+SSE, the transport of 2024-11-05: an event stream from the server and POSTs to it.
//!
//! # Theory of operation
//! The first event of the stream has the URL to post to; that URL is the session. All messages of the
//! server come on the stream, so the stream is the connection: when it ends, the session is dead and
//! the supervisor connects again. The answer to a POST only says whether the message arrived.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::retry::RetryClass;
use evermoor_core::protocol::sse;

use super::connection::{Connected, Connection, LARGEST_REPLY, excerpt};
use super::duplex::handshake;
use super::duplex::{self, Inbox, Outgoing, SendError};
use super::http::client::{HttpAnswer, HttpCallError, HttpClients, HttpRequest, RequestTarget};
use super::http::{body_or_nothing, status};
use crate::system::budget::{Budget, Intake, SharedCharge};
use crate::system::message_body::MessageBody;
use crate::system::message_parser;

/// How long the `endpoint` event may take.
const ENDPOINT_LIMIT: Duration = Duration::from_secs(10);
/// How long a POST in flight may outlive the stream.
const DRAIN_LIMIT: Duration = Duration::from_millis(250);

/// Opens the stream, reads the URL to post to, and does the handshake.
pub(crate) async fn connect(
    clients: HttpClients,
    url: Url,
    tasks: &TaskTracker,
) -> Result<Connected, Failure> {
    let opened = timeout(ENDPOINT_LIMIT, open(&clients, &url)).await;
    let (events, endpoint) = opened.unwrap_or_else(|_| Err(status::silent(&url)))?;
    let (mut channel, inbox, outgoing, incoming) = duplex::channel();
    tasks.spawn(read(events, inbox.clone(), url));
    tasks.spawn(write(outgoing, inbox, clients, endpoint, tasks.clone()));
    let handshake = handshake::initialize(&mut channel).await?;
    Ok(Connected { connection: Connection::Duplex(Box::new(channel)), handshake, incoming })
}

async fn open(clients: &HttpClients, url: &Url) -> Result<(SseReader, Url), Failure> {
    let mut headers = clients.headers().clone();
    headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
    let (class, method, target) =
        (RetryClass::Repeatable, Method::GET, &RequestTarget::new(url.clone()));
    let (headers, body) = (Cow::Owned(headers), MessageBody::default());
    let request = HttpRequest { class, method, target, headers, body };
    let answer = clients.send(request).await.map_err(|error| status::failure(url, &error))?;
    if let Some(failure) = clients.lacks_scope(&answer) {
        return Err(failure);
    }
    if !answer.status().is_success() || !answer.is_event_stream() {
        return Err(status::refused(url, clients, answer).await);
    }
    let mut events = SseReader::new(answer, &clients.buffers);
    while let Some(event) = events.next().await {
        if event.kind == "endpoint" {
            let endpoint = own_endpoint(url, &event.data)?;
            return Ok((events, endpoint));
        }
    }
    Err(status::not_mcp(url))
}

/// The URL to post to. It must have the same origin, so that no other server gets our messages.
fn own_endpoint(url: &Url, named: &[u8]) -> Result<Url, Failure> {
    let named = std::str::from_utf8(named).unwrap_or_default();
    match url.join(named) {
        Ok(endpoint) if endpoint.origin() == url.origin() => Ok(endpoint),
        Ok(_) | Err(_) => {
            let what = format!(
                "{} asks for messages to be sent to another server.",
                status::host_and_port(url)
            );
            Err(Failure::new(Code::NotMcp, what, "Evermoor does not do that. Check its URL."))
        }
    }
}

async fn read(mut events: SseReader, inbox: Inbox, url: Url) {
    let stream = async {
        while let Some(event) = events.next().await {
            if let Ok(message) = message_parser::parse(&event.data).await {
                inbox.deliver(message, event.charge);
            }
        }
    };
    tokio::select! {
        biased;
        () = stream => {}
        () = inbox.closed() => {}
    }
    inbox.close(status::ended(&url));
}

/// Posts each message as it comes, without waiting for the POSTs before it.
async fn write(
    mut outgoing: mpsc::Receiver<Outgoing>,
    inbox: Inbox,
    clients: HttpClients,
    endpoint: Url,
    tasks: TaskTracker,
) {
    let target = Arc::new(RequestTarget::new(endpoint));
    let mut headers = clients.headers().clone();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let headers = Arc::new(headers);
    loop {
        let next = tokio::select! {
            biased;
            next = outgoing.recv() => next,
            () = inbox.closed() => None,
        };
        let Some(Outgoing { text, receipt }) = next else { return };
        // It was cancelled while it waited, so it must never be sent.
        if receipt.is_closed() {
            continue;
        }
        let (inbox, target, clients) = (inbox.clone(), target.clone(), clients.clone());
        let headers = Arc::clone(&headers);
        tasks.spawn(async move {
            let (class, method, body) = (RetryClass::Once, Method::POST, text.into());
            let headers = Cow::Borrowed(&*headers);
            let posting =
                clients.send(HttpRequest { class, method, target: &target, headers, body });
            let sent = tokio::select! {
                biased;
                answer = posting => post_result(answer, &inbox, &target.url, &clients).await,
                // Some servers never answer a POST for a session that has ended.
                () = drained(&inbox) => Err(SendError::Unknown("the stream ended".into())),
            };
            let _ = receipt.send(sent);
        });
    }
}

/// What the answer to a POST, or the lack of one, says about its message.
async fn post_result(
    answer: Result<HttpAnswer, HttpCallError>,
    inbox: &Inbox,
    endpoint: &Url,
    clients: &HttpClients,
) -> Result<(), SendError> {
    match answer {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => {
            let refused = refused(answer, endpoint, clients).await;
            if let SendError::NotSent(_) = refused {
                inbox.close(status::session_lost(endpoint));
            }
            Err(refused)
        }
        Err(error) if error.is_unsent() => {
            inbox.close(status::failure(endpoint, &error));
            Err(SendError::NotSent(error.innermost()))
        }
        Err(error) => Err(SendError::Unknown(error.innermost())),
    }
}

/// Resolves when the stream has ended and POSTs in flight had time to be answered.
async fn drained(inbox: &Inbox) {
    inbox.closed().await;
    sleep(DRAIN_LIMIT).await;
}

/// What an error status means for the message: whether it may have been read or may be sent again.
/// Streamable HTTP has its own rules in `http/status.rs`, because there a 404 ends the session.
async fn refused(answer: HttpAnswer, endpoint: &Url, clients: &HttpClients) -> SendError {
    let status = answer.status();
    if let Some(failure) = clients.lacks_scope(&answer) {
        return SendError::AuthRequired(failure);
    }
    if status == StatusCode::UNAUTHORIZED {
        return SendError::AuthRequired(status::refused(endpoint, clients, answer).await);
    }
    let body = excerpt(&body_or_nothing(answer).await);
    let text = format!("{status}: {body}").trim_end_matches([':', ' ']).to_owned();
    match status {
        StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::BAD_REQUEST => {
            SendError::NotSent(format!("it answered {text}"))
        }
        StatusCode::TOO_MANY_REQUESTS => SendError::Busy,
        StatusCode::SERVICE_UNAVAILABLE => SendError::Unavailable(text),
        status if status.is_server_error() => SendError::Unknown(format!("it answered {text}")),
        _ => SendError::Refused(format!("The server answered {text}")),
    }
}

/// An event of the server, and what is charged for it.
struct ServerEvent {
    kind: String,
    data: Bytes,
    charge: Option<SharedCharge>,
}

/// The events of the server's stream.
struct SseReader {
    answer: HttpAnswer,
    parser: sse::SseParser,
    ready: VecDeque<ServerEvent>,
    intake: Intake,
}

impl SseReader {
    fn new(answer: HttpAnswer, buffers: &Arc<Budget>) -> Self {
        let parser = sse::SseParser::new(LARGEST_REPLY);
        Self { answer, parser, ready: VecDeque::new(), intake: Intake::new(buffers) }
    }

    /// The next event; `None` when the stream has ended, for whatever reason.
    async fn next(&mut self) -> Option<ServerEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let chunk = self.answer.chunk().await.ok()??;
            self.intake.admit(chunk.len()).await.ok()?;
            for event in self.parser.push(&chunk).ok()? {
                let (data, charge) = self.intake.take(event.data);
                self.ready.push_back(ServerEvent { kind: event.kind, data, charge });
            }
            self.intake.keep_only(self.parser.buffered());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::auth::GrantHandle;
    use crate::upstream::auth::tests::signed_in;
    use crate::upstream::transport::connection::CallError;
    use crate::upstream::transport::outbound::OutboundCall;
    use evermoor_core::config::HttpOptions;
    use evermoor_core::protocol::envelope::{Id, Request};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    /// The error of a call whose POST gets this answer, or none before the stream ends.
    async fn posted(answer: Option<&str>) -> CallError {
        posted_with(None, answer).await
    }

    /// Like [`posted`], with the token of this grant.
    #[expect(clippy::disallowed_methods, reason = "the runtime of the test ends it")]
    async fn posted_with(grant: Option<GrantHandle>, answer: Option<&str>) -> CallError {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}/message", server.local_addr().unwrap());
        let endpoint = Url::parse(&endpoint).unwrap();
        let (channel, inbox, outgoing, _incoming) = duplex::channel();
        let reach = HttpOptions::default();
        let clients = HttpClients::new(
            &endpoint,
            true,
            &reach,
            &Default::default(),
            &Arc::default(),
            &TaskTracker::new(),
        )
        .await
        .unwrap()
        .with_grant(grant);
        drop(tokio::spawn(write(outgoing, inbox.clone(), clients, endpoint, TaskTracker::new())));
        let serve = async {
            let (mut socket, _) = server.accept().await.unwrap();
            assert_ne!(socket.read(&mut [0; 4096]).await.unwrap(), 0);
            match answer {
                Some(answer) => socket.write_all(answer.as_bytes()).await.unwrap(),
                None => inbox.close(status::ended(&Url::parse("http://127.0.0.1/sse").unwrap())),
            }
            socket
        };
        let request = Request::new(Id::number(1), "tools/call", None);
        let (answer, _socket) =
            tokio::join!(channel.call(OutboundCall::of_gateway(&request)), serve);
        answer.err().expect("nothing answers the call itself")
    }

    #[tokio::test]
    async fn a_post_that_is_never_answered_ends_with_the_stream() {
        assert!(matches!(posted(None).await, CallError::Unknown { .. }));
    }

    #[tokio::test]
    async fn only_a_post_that_was_rejected_may_be_sent_again() {
        let gone = posted(Some("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")).await;
        assert!(matches!(gone, CallError::NotSent(_)), "{gone}");
        let lost = posted(Some("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")).await;
        assert!(matches!(lost, CallError::Unknown { .. }), "{lost}");
    }

    #[tokio::test]
    async fn a_post_that_lacks_a_scope_asks_for_a_sign_in() {
        let (grant, _folder) = signed_in().await;
        let answer = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\
             www-authenticate: Bearer error=\"insufficient_scope\", scope=\"files:write\"\r\n\r\n";
        let refused = posted_with(Some(grant), Some(answer)).await;
        let CallError::AuthRequired(failure) = refused else { panic!("{refused}") };
        assert!(failure.what.contains("files:write"), "{failure}");
    }

    #[test]
    fn messages_are_posted_to_the_same_origin_only() {
        let url = Url::parse("http://127.0.0.1:39300/sse").unwrap();
        let own = own_endpoint(&url, b"/messages?session_id=1").unwrap();
        assert_eq!(own.as_str(), "http://127.0.0.1:39300/messages?session_id=1");
        assert!(own_endpoint(&url, b"http://127.0.0.1:39300/m").is_ok());
        for foreign in ["http://evil.com/", "//evil.com/m", "http://127.0.0.1:1/m", "file:///etc"] {
            assert!(own_endpoint(&url, foreign.as_bytes()).is_err(), "{foreign}");
        }
    }
}
