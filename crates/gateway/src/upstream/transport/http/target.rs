//! One HTTP server: its URL, whether it has sessions, and the headers that each request needs.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use url::Url;

use evermoor_core::policy::retry::RetryClass;
use evermoor_core::protocol::envelope::{Id, Message, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp;
use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::stateless::{encode_header, mcp_name};
use evermoor_core::protocol::translate::client_meta::ClientMeta;
use evermoor_core::protocol::version::ProtocolVersion;

use super::super::outbound::OutboundCall;
use super::client::{HttpAnswer, HttpCallError, HttpClients, HttpRequest, RequestTarget};
use crate::system::message_body::MessageBody;
use crate::upstream::server_requests::{AnswerQueue, ServerRequests};

/// Everything that is needed to send a message to one server.
pub(super) struct HttpTarget {
    pub(super) clients: HttpClients,
    pub(super) url: Url,
    pub(super) mode: SessionMode,
    target: RequestTarget,
    /// The headers of every message that is posted, and of every other request.
    post_headers: HeaderMap,
    other_headers: HeaderMap,
    ids: AtomicU64,
    pub(super) requests: ServerRequests,
    /// The answers to them.
    pub(super) answers: AnswerQueue,
}

/// What distinguishes the protocol versions on the wire.
pub(super) enum SessionMode {
    /// Up to 2025-11-25: a session, with an id if the server gave one.
    Session { id: Option<HeaderValue>, revision: SessionVersion },
    /// 2026-07-28: each request carries the client's metadata.
    Stateless(ClientMeta),
}

impl SessionMode {
    pub(super) fn stateless() -> Self {
        Self::Stateless(ClientMeta::gateway(crate::VERSION))
    }
}

impl HttpTarget {
    pub(super) fn new(clients: HttpClients, url: Url, mode: SessionMode) -> Self {
        let target = RequestTarget::new(url.clone());
        let (post_headers, other_headers) = (HeaderMap::new(), HeaderMap::new());
        let (ids, requests) = (AtomicU64::new(1), ServerRequests::default());
        let answers = AnswerQueue::default();
        let mut target = Self {
            clients,
            url,
            mode,
            target,
            post_headers,
            other_headers,
            ids,
            requests,
            answers,
        };
        target.prepare_headers();
        target
    }

    /// Sets what the handshake found out.
    pub(super) fn set_mode(&mut self, mode: SessionMode) {
        self.mode = mode;
        self.prepare_headers();
    }

    fn prepare_headers(&mut self) {
        let mut headers = self.clients.headers().clone();
        let version = match &self.mode {
            SessionMode::Stateless(_) => Some(mcp::STATELESS),
            SessionMode::Session { id: Some(id), revision } => {
                headers.insert(mcp::header::SESSION, id.clone());
                (*revision >= SessionVersion::V2025_06_18).then(|| revision.as_str())
            }
            SessionMode::Session { id: None, .. } => None,
        };
        if let Some(version) = version {
            headers.insert(mcp::header::PROTOCOL_VERSION, HeaderValue::from_static(version));
        }
        self.other_headers = headers.clone();
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(header::ACCEPT, accept);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.post_headers = headers;
    }

    pub(super) fn next_id(&self) -> Id {
        Id::number(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    /// The protocol version that the server speaks.
    pub(super) fn version(&self) -> ProtocolVersion {
        match self.mode {
            SessionMode::Stateless(_) => ProtocolVersion::Stateless,
            SessionMode::Session { revision, .. } => ProtocolVersion::Session(revision),
        }
    }

    /// The request as this server expects it, and the editor's progress token.
    pub(super) fn encode(&self, call: OutboundCall<'_>) -> (Request, Option<Raw>) {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let gateway = match &self.mode {
            SessionMode::Stateless(client_meta) => Some(client_meta),
            SessionMode::Session { .. } => None,
        };
        call.encode(number, self.version(), gateway)
    }

    /// Posts one message.
    pub(super) async fn post(&self, message: &Message) -> Result<HttpAnswer, HttpCallError> {
        self.post_with(message, &[]).await
    }

    /// Posts one message. A stateless server also gets the headers in `repeated`.
    pub(super) async fn post_with(
        &self,
        message: &Message,
        repeated: &[(String, String)],
    ) -> Result<HttpAnswer, HttpCallError> {
        let class = match message {
            Message::Request(request) => RetryClass::of(&request.method),
            Message::Notification(_) | Message::Response(_) => RetryClass::Repeatable,
        };
        let mut headers = Cow::Borrowed(&self.post_headers);
        if let (SessionMode::Stateless(_), Message::Request(sent)) = (&self.mode, message) {
            let headers = headers.to_mut();
            insert(headers, "mcp-method", &encode_header(&sent.method));
            if let Some(name) = mcp_name(sent) {
                insert(headers, "mcp-name", &encode_header(&name));
            }
            for (name, value) in repeated {
                insert(headers, name, value);
            }
        }
        let body = message.to_parts().into();
        self.send(HttpRequest { class, method: Method::POST, target: &self.target, headers, body })
            .await
    }

    /// Opens the stream for messages that belong to no call, or resumes a stream.
    pub(super) async fn get(&self, last_event: Option<&str>) -> Result<HttpAnswer, HttpCallError> {
        let mut headers = self.other_headers.clone();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(id) = last_event {
            insert(&mut headers, "last-event-id", &encode_header(id));
        }
        self.send(self.without_body(Method::GET, Cow::Owned(headers))).await
    }

    /// Ends the session.
    pub(super) async fn delete(&self) {
        if let SessionMode::Session { id: Some(_), .. } = self.mode {
            let headers = Cow::Borrowed(&self.other_headers);
            let _ = self.send(self.without_body(Method::DELETE, headers)).await;
        }
    }

    fn without_body<'a>(&'a self, method: Method, headers: Cow<'a, HeaderMap>) -> HttpRequest<'a> {
        let (class, body) = (RetryClass::Repeatable, MessageBody::default());
        HttpRequest { class, method, target: &self.target, headers, body }
    }

    async fn send(&self, request: HttpRequest<'_>) -> Result<HttpAnswer, HttpCallError> {
        self.clients.send(request).await
    }

    /// Whether the server gave a session id.
    pub(super) fn has_session(&self) -> bool {
        matches!(self.mode, SessionMode::Session { id: Some(_), .. })
    }
}

/// Adds a header, if a header can have this name and value.
fn insert(headers: &mut HeaderMap, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
        headers.insert(name, value);
    }
}
