//! How one server is spoken to over HTTP: its address, its era, and the headers that go with each.

use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::{HeaderValue, Method, header};
use url::Url;

use evermoor_core::call::Class;
use evermoor_core::envelope::{Id, Message, Request};
use evermoor_core::json::Raw;
use evermoor_core::progress;
use evermoor_core::protocol::{self, Revision, WhoAsks, method};

use super::clients::Clients;

/// Everything that is needed to send a message to one server.
pub(super) struct Line {
    pub(super) clients: Clients,
    pub(super) url: Url,
    pub(super) era: Era,
    ids: AtomicU64,
}

/// What distinguishes the revisions on the wire.
pub(super) enum Era {
    /// Up to 2025-11-25: a session that the server may have named.
    Session { id: Option<HeaderValue>, revision: Revision },
    /// 2026-07-28: each request says who asks.
    Stateless(WhoAsks),
}

impl Era {
    pub(super) fn stateless() -> Self {
        Self::Stateless(WhoAsks::gateway(crate::VERSION))
    }
}

impl Line {
    pub(super) fn new(clients: Clients, url: Url, era: Era) -> Self {
        Self { clients, url, era, ids: AtomicU64::new(1) }
    }

    pub(super) fn next_id(&self) -> Id {
        Id::number(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    /// The request as this server wants it, and the editor's own progress token.
    pub(super) fn outbound(&self, request: &Request) -> (Request, Option<Raw>) {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let (mut params, token) = progress::outbound(request.params.as_ref(), number);
        if let Era::Stateless(who_asks) = &self.era {
            params = Some(who_asks.sign(params));
        }
        (Request { id: Id::number(number), method: request.method.clone(), params }, token)
    }

    /// Posts one message.
    pub(super) async fn post(
        &self,
        message: &Message,
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
        }
        request.body(message.to_bytes()).send().await
    }

    /// Opens the stream on which the server speaks of its own accord, or resumes one.
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

    /// Whether the server keeps a session for us that it could forget.
    pub(super) fn has_session(&self) -> bool {
        matches!(self.era, Era::Session { id: Some(_), .. })
    }

    fn request(&self, class: Class, method: Method) -> reqwest::RequestBuilder {
        let request = self.clients.of(class).request(method, self.url.clone());
        match &self.era {
            Era::Stateless(_) => request.header(protocol::header::REVISION, protocol::STATELESS),
            Era::Session { id, revision } => {
                let request = match id {
                    Some(id) => request.header(protocol::header::SESSION, id),
                    None => return request,
                };
                match *revision >= Revision::V2025_06_18 {
                    true => request.header(protocol::header::REVISION, revision.as_str()),
                    false => request,
                }
            }
        }
    }
}

/// What a request calls by name, which 2026-07-28 wants in a header too.
fn named(request: &Request) -> Option<String> {
    let member = match request.method.as_str() {
        method::TOOLS_CALL | method::PROMPTS_GET => "name",
        method::RESOURCES_READ => "uri",
        _ => return None,
    };
    request.params.as_ref()?.text_member(member)
}

/// A text as a header can hold it: as it is, or encoded with a mark that says so.
fn header_text(text: &str) -> String {
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    let framed = text.starts_with(' ') || text.ends_with(' ') || text.starts_with("=?");
    if plain && !framed { text.to_owned() } else { format!("=?base64?{}?=", BASE64.encode(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_holds_any_text() {
        assert_eq!(header_text("create_memory"), "create_memory");
        assert_eq!(header_text("é"), "=?base64?w6k=?=");
        assert_eq!(header_text("=?base64?x?="), "=?base64?PT9iYXNlNjQ/eD89?=");
    }
}
