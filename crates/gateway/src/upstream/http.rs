//! Streamable HTTP: one POST per message, answered by JSON or by a stream of events.
//!
//! Two clients with the same settings but for how long a socket may rest in their pool: a call
//! that must not be repeated only reuses a socket that was active within the last second, because
//! a socket that the server is just closing makes it unknowable whether a call ran.

mod errors;
mod reply;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::call::Class;
use evermoor_core::envelope::{Id, Notification, Outcome, Request};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::json::Raw;
use evermoor_core::outcome::Unknown;
use evermoor_core::protocol::{self, Handshake, Revision, method};

use super::connection::{CallError, Reply};

/// A session with an upstream over HTTP.
pub(crate) struct HttpConnection {
    clients: Clients,
    url: Url,
    session: Option<HeaderValue>,
    revision: Revision,
    ids: AtomicU64,
    tasks: TaskTracker,
}

/// The same client twice, for calls that may be repeated and calls that may not.
#[derive(Clone)]
pub(crate) struct Clients {
    repeatable: reqwest::Client,
    once: reqwest::Client,
}

const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);

impl Clients {
    /// Clients for an upstream on this machine, or elsewhere.
    pub(crate) fn new(local: bool) -> Result<Self, reqwest::Error> {
        let build = |idle: Duration| {
            let connect = if local { Duration::from_secs(1) } else { Duration::from_secs(5) };
            let client = reqwest::Client::builder()
                .user_agent(concat!("evermoor/", env!("CARGO_PKG_VERSION")))
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .tcp_nodelay(true)
                .connect_timeout(connect)
                .pool_idle_timeout(idle);
            // On this machine nothing is proxied, and no certificates need to be in memory.
            let client = if local { client.no_proxy().tls_certs_only([]) } else { client };
            client.build()
        };
        Ok(Self {
            repeatable: build(Duration::from_secs(3))?,
            once: build(Duration::from_secs(1))?,
        })
    }
}

impl HttpConnection {
    /// Makes a session: the handshake of MCP.
    pub(crate) async fn open(
        clients: Clients,
        url: Url,
        tasks: TaskTracker,
    ) -> Result<(Self, Handshake), Failure> {
        let ids = AtomicU64::new(1);
        let mut connection =
            Self { clients, url, session: None, revision: Revision::LATEST, ids, tasks };
        let handshake = tokio::time::timeout(HANDSHAKE_LIMIT, connection.handshake()).await;
        let handshake = handshake.unwrap_or_else(|_| Err(errors::silent(&connection.url)))?;
        Ok((connection, handshake))
    }

    async fn handshake(&mut self) -> Result<Handshake, Failure> {
        let params = protocol::initialize_params(Revision::LATEST, crate::VERSION);
        let request = Request::new(self.next_id(), method::INITIALIZE, Some(params));
        let answer = self
            .post(Class::Repeatable, request.to_bytes())
            .await
            .map_err(|e| errors::failure(&self.url, &e))?;
        if !answer.status().is_success() {
            return Err(errors::refused(&self.url, answer).await);
        }
        self.session = answer.headers().get(protocol::header::SESSION).cloned();
        let response = match reply::read_reply(answer, &request.id, &self.tasks).await {
            Ok(Reply::Whole(response)) => Some(response),
            Ok(Reply::Stream(messages)) => messages.answer().await,
            Err(_) => None,
        };
        let handshake = match response.map(|response| response.outcome) {
            Some(Outcome::Result(result)) => Handshake::read(&result),
            Some(Outcome::Error(_)) | None => None,
        };
        let handshake = handshake.ok_or_else(|| errors::not_mcp(&self.url))?;
        self.revision = handshake.revision;
        self.notify(&Notification::new(method::INITIALIZED, None)).await?;
        Ok(handshake)
    }

    /// Sends a request under an id of our own; the answer comes back under the caller's.
    pub(crate) async fn call(&self, request: &Request) -> Result<Reply, CallError> {
        let sent = Request { id: self.next_id(), ..request.clone() };
        let class = Class::of(&request.method);
        let answer = match self.post(class, sent.to_bytes()).await {
            Ok(answer) => answer,
            Err(error) if errors::never_sent(&error) => {
                return Err(CallError::NotSent(errors::failure(&self.url, &error)));
            }
            Err(error) => return Err(errors::lost(&error)),
        };
        match answer.status() {
            status if status.is_success() => {
                reply::read_reply(answer, &request.id, &self.tasks).await
            }
            StatusCode::NOT_FOUND if self.session.is_some() => {
                Err(CallError::NotSent(errors::forgotten(&self.url)))
            }
            StatusCode::UNAUTHORIZED => {
                Err(CallError::AuthRequired(errors::refused(&self.url, answer).await))
            }
            StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => Err(CallError::Unknown {
                why: Unknown::BadGateway,
                detail: format!("{} answered {}", errors::place(&self.url), answer.status()),
                connection_broke: false,
            }),
            _ => Ok(Reply::Whole(reply::relayed_refusal(answer, &request.id).await)),
        }
    }

    /// A request of the gateway's own, with its result.
    pub(crate) async fn ask(&self, called: &str, params: Option<Raw>) -> Result<Raw, Failure> {
        let request = Request::new(Id::number(0), called, params);
        let response = match self.call(&request).await {
            Ok(Reply::Whole(response)) => Some(response),
            Ok(Reply::Stream(messages)) => messages.answer().await,
            Err(CallError::NotSent(failure) | CallError::AuthRequired(failure)) => {
                return Err(failure);
            }
            Err(CallError::Unknown { .. }) => None,
        };
        match response.map(|response| response.outcome) {
            Some(Outcome::Result(result)) => Ok(result),
            Some(Outcome::Error(error)) => {
                let said = error.text_member("message").unwrap_or_default();
                let what = format!("It answered `{called}` with an error: {said}.");
                Err(Failure::new(Code::Refused, what, "Look at the server's own log."))
            }
            None => Err(errors::silent(&self.url)),
        }
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    pub(crate) async fn notify(&self, notification: &Notification) -> Result<(), Failure> {
        let sent = self.post(Class::Repeatable, notification.to_bytes()).await;
        sent.map(drop).map_err(|error| errors::failure(&self.url, &error))
    }

    async fn post(&self, class: Class, body: Bytes) -> Result<reqwest::Response, reqwest::Error> {
        let client = match class {
            Class::Repeatable => &self.clients.repeatable,
            Class::Once => &self.clients.once,
        };
        let mut request = client
            .post(self.url.clone())
            .header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(
                header::ACCEPT,
                HeaderValue::from_static("application/json, text/event-stream"),
            );
        if let Some(session) = &self.session {
            request = request.header(protocol::header::SESSION, session);
        }
        if self.revision >= Revision::V2025_06_18 {
            request = request.header(protocol::header::REVISION, self.revision.as_str());
        }
        request.body(body).send().await
    }

    fn next_id(&self) -> Id {
        Id::number(self.ids.fetch_add(1, Ordering::Relaxed))
    }
}
