//! One HTTP server: its URL, whether it has sessions, and the headers that each request needs.

use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderValue, Method, header};
use url::Url;

use evermoor_core::policy::retry::Class;
use evermoor_core::protocol::envelope::{Id, Message, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp;
use evermoor_core::protocol::mcp::Revision;
use evermoor_core::protocol::progress;
use evermoor_core::protocol::stateless::{header_text, named};
use evermoor_core::protocol::translate::client_meta::WhoAsks;

use crate::upstream::server_requests;
use crate::upstream::server_requests::{Caller, ServerRequests};

use super::clients::HttpClients;

/// Everything that is needed to send a message to one server.
pub(super) struct HttpTarget {
    pub(super) clients: HttpClients,
    pub(super) url: Url,
    pub(super) era: Era,
    ids: AtomicU64,
    pub(super) requests: ServerRequests,
}

/// What distinguishes the protocol versions on the wire.
pub(super) enum Era {
    /// Up to 2025-11-25: a session, with an id if the server gave one.
    Session { id: Option<HeaderValue>, revision: Revision },
    /// 2026-07-28: each request carries the client's metadata.
    Stateless(WhoAsks),
}

impl Era {
    pub(super) fn stateless() -> Self {
        Self::Stateless(WhoAsks::gateway(crate::VERSION))
    }
}

impl HttpTarget {
    pub(super) fn new(clients: HttpClients, url: Url, era: Era) -> Self {
        Self { clients, url, era, ids: AtomicU64::new(1), requests: ServerRequests::default() }
    }

    pub(super) fn next_id(&self) -> Id {
        Id::number(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    /// The request as this server expects it, and the editor's progress token.
    pub(super) fn outbound(
        &self,
        request: &Request,
        caller: Option<&Caller>,
    ) -> (Request, Option<Raw>) {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let (params, token) = progress::outbound(request.params.as_ref(), number);
        let stateless = match &self.era {
            Era::Stateless(who_asks) => Some(who_asks),
            Era::Session { .. } => None,
        };
        let params = server_requests::with_client_meta(params, caller, stateless);
        (Request { id: Id::number(number), method: request.method.clone(), params }, token)
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
            Message::Request(request) => Class::of(&request.method),
            Message::Notification(_) | Message::Response(_) => Class::Repeatable,
        };
        let mut request = self
            .request(class, Method::POST)
            .header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(
                header::ACCEPT,
                HeaderValue::from_static("application/json, text/event-stream"),
            );
        if let (Era::Stateless(_), Message::Request(sent)) = (&self.era, message) {
            request = request.header("mcp-method", &sent.method);
            if let Some(name) = named(sent) {
                request = request.header("mcp-name", header_text(&name));
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
            .request(Class::Repeatable, Method::GET)
            .header(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(id) = last_event {
            request = request.header("last-event-id", header_text(id));
        }
        request.send().await
    }

    /// Ends the session.
    pub(super) async fn delete(&self) {
        if let Era::Session { id: Some(_), .. } = self.era {
            let _ = self.request(Class::Repeatable, Method::DELETE).send().await;
        }
    }

    /// Whether the server gave a session id.
    pub(super) fn has_session(&self) -> bool {
        matches!(self.era, Era::Session { id: Some(_), .. })
    }

    fn request(&self, class: Class, method: Method) -> reqwest::RequestBuilder {
        let request = self.clients.of(class).request(method, self.url.clone());
        match &self.era {
            Era::Stateless(_) => request.header(mcp::header::REVISION, mcp::STATELESS),
            Era::Session { id, revision } => {
                let request = match id {
                    Some(id) => request.header(mcp::header::SESSION, id),
                    None => return request,
                };
                match *revision >= Revision::V2025_06_18 {
                    true => request.header(mcp::header::REVISION, revision.as_str()),
                    false => request,
                }
            }
        }
    }
}
