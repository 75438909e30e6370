//! One HTTP server: its URL, whether it has sessions, and the headers that each request needs.

use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderValue, Method, header};
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
use super::http_clients::HttpClients;
use crate::upstream::server_requests::ServerRequests;

/// Everything that is needed to send a message to one server.
pub(super) struct HttpTarget {
    pub(super) clients: HttpClients,
    pub(super) url: Url,
    pub(super) era: SessionMode,
    ids: AtomicU64,
    pub(super) requests: ServerRequests,
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
    pub(super) fn new(clients: HttpClients, url: Url, era: SessionMode) -> Self {
        Self { clients, url, era, ids: AtomicU64::new(1), requests: ServerRequests::default() }
    }

    pub(super) fn next_id(&self) -> Id {
        Id::number(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    /// The protocol version that the server speaks.
    pub(super) fn version(&self) -> ProtocolVersion {
        match self.era {
            SessionMode::Stateless(_) => ProtocolVersion::Stateless,
            SessionMode::Session { revision, .. } => ProtocolVersion::Session(revision),
        }
    }

    /// The request as this server expects it, and the editor's progress token.
    pub(super) fn encode(&self, call: OutboundCall<'_>) -> (Request, Option<Raw>) {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let gateway = match &self.era {
            SessionMode::Stateless(client_meta) => Some(client_meta),
            SessionMode::Session { .. } => None,
        };
        call.encode(number, self.version(), gateway)
    }

    /// Posts one message.
    pub(super) async fn post(
        &self,
        message: &Message,
    ) -> Result<reqwest::Response, reqwest::Error> {
        self.post_with(message, &[]).await
    }

    /// Posts one message. A stateless server also gets the headers in `repeated`.
    pub(super) async fn post_with(
        &self,
        message: &Message,
        repeated: &[(String, String)],
    ) -> Result<reqwest::Response, reqwest::Error> {
        let class = match message {
            Message::Request(request) => RetryClass::of(&request.method),
            Message::Notification(_) | Message::Response(_) => RetryClass::Repeatable,
        };
        let mut request = self
            .request(class, Method::POST)
            .header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(
                header::ACCEPT,
                HeaderValue::from_static("application/json, text/event-stream"),
            );
        if let (SessionMode::Stateless(_), Message::Request(sent)) = (&self.era, message) {
            request = request.header("mcp-method", &sent.method);
            if let Some(name) = mcp_name(sent) {
                request = request.header("mcp-name", encode_header(&name));
            }
            for (name, value) in repeated {
                request = request.header(name, value);
            }
        }
        request.body(message.to_bytes()).send().await
    }

    /// Opens the stream for messages that belong to no call, or resumes a stream.
    pub(super) async fn get(
        &self,
        last_event: Option<&str>,
    ) -> Result<reqwest::Response, reqwest::Error> {
        let mut request = self
            .request(RetryClass::Repeatable, Method::GET)
            .header(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(id) = last_event {
            request = request.header("last-event-id", encode_header(id));
        }
        request.send().await
    }

    /// Ends the session.
    pub(super) async fn delete(&self) {
        if let SessionMode::Session { id: Some(_), .. } = self.era {
            let _ = self.request(RetryClass::Repeatable, Method::DELETE).send().await;
        }
    }

    /// Whether the server gave a session id.
    pub(super) fn has_session(&self) -> bool {
        matches!(self.era, SessionMode::Session { id: Some(_), .. })
    }

    fn request(&self, class: RetryClass, method: Method) -> reqwest::RequestBuilder {
        let request = self.clients.of(class).request(method, self.url.clone());
        match &self.era {
            SessionMode::Stateless(_) => {
                request.header(mcp::header::PROTOCOL_VERSION, mcp::STATELESS)
            }
            SessionMode::Session { id, revision } => {
                let request = match id {
                    Some(id) => request.header(mcp::header::SESSION, id),
                    None => return request,
                };
                match *revision >= SessionVersion::V2025_06_18 {
                    true => request.header(mcp::header::PROTOCOL_VERSION, revision.as_str()),
                    false => request,
                }
            }
        }
    }
}
