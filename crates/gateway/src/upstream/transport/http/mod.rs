//! MCP over HTTP, one POST per message: Streamable HTTP with sessions, and 2026-07-28 without.
//!
//! # Theory of operation
//! A call is a POST; its answer is the body, or a stream of events that ends with the answer.
//! Everything that comes back on a POST belongs to its call. Two tasks live as long as the
//! connection: one reads the stream on which a server with sessions sends messages that belong to
//! no call, and one holds a [`liveness_socket`] to a server on this machine. Either one reports
//! `Closed` when the server is gone or has ended the session.
//!
//! # Layout
//! - [`target`]: the server's URL and headers; [`client`]: certificates, proxy and redirects
//! - [`handshake`]: the handshake; [`cancel`]: cancels a call
//! - [`reply`], [`reply_events`]: reads the answer to a request, as JSON or as a stream of events
//! - [`status`]: what a status or a transport error means
//! - [`session_stream`]: messages that belong to no call, from a server with sessions
//! - [`subscription_stream`]: the same from a stateless server
//! - [`liveness_socket`]: shows at once when a local server dies

mod cancel;
pub(crate) mod client;
mod handshake;
mod liveness_socket;
mod reply;
mod reply_events;
mod session_stream;
pub(super) mod status;
mod subscription_stream;
mod target;

use std::sync::Arc;
use std::time::Duration;

use http::{StatusCode, header};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::failure::Failure;
use evermoor_core::failure::outcome::Unknown;
use evermoor_core::policy::retry_after::retry_after;
use evermoor_core::protocol::envelope::{Notification, Request};
use evermoor_core::protocol::mcp;
use evermoor_core::protocol::mcp::{Handshake, SessionVersion, method};
use evermoor_platform::clock;
use evermoor_platform::process::info;

use super::connection::{CallError, CallReply, Connected, Connection, ConnectionEvent, excerpt};
use super::outbound::OutboundCall;
use crate::upstream::subscriptions::SubscriptionSet;
use cancel::CancelOnDrop;
use client::HttpAnswer;
pub(crate) use client::HttpClients;
pub(super) use reply::body_or_nothing;
use target::{HttpTarget, SessionMode};

/// A connection to an upstream over HTTP.
pub(crate) struct HttpConnection {
    target: Arc<HttpTarget>,
    tasks: TaskTracker,
    incoming: mpsc::Sender<ConnectionEvent>,
    alive: CancellationToken,
    _alive: DropGuard,
}

const CLOSE_LIMIT: Duration = Duration::from_secs(2);
/// The limit for the `Retry-After` of a server.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);
const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(1);
const INCOMING_BUFFER: usize = 64;

impl HttpConnection {
    /// Connects to a server that speaks 2026-07-28.
    pub(crate) async fn discover(
        clients: HttpClients,
        url: Url,
        tasks: &TaskTracker,
    ) -> Result<Connected, Failure> {
        let target = HttpTarget::new(clients, url, SessionMode::stateless());
        let result = handshake::discover(&target, tasks).await?;
        let handshake =
            Handshake::from_discover(&result).ok_or_else(|| status::not_mcp(&target.url))?;
        Ok(connected(target, handshake, tasks))
    }

    /// Opens a session: the handshake of the versions up to 2025-11-25.
    pub(crate) async fn initialize(
        clients: HttpClients,
        url: Url,
        tasks: &TaskTracker,
    ) -> Result<Connected, Failure> {
        let mode = SessionMode::Session { id: None, revision: SessionVersion::LATEST };
        let mut target = HttpTarget::new(clients, url, mode);
        let params = mcp::initialize_params(SessionVersion::LATEST, crate::VERSION);
        let request = Request::new(target.next_id(), method::INITIALIZE, Some(params));
        let (result, id) = handshake::exchange(&target, &request, tasks).await?;
        let handshake = Handshake::read(&result).ok_or_else(|| status::not_mcp(&target.url))?;
        target.set_mode(SessionMode::Session { id, revision: handshake.revision });
        let sent = target.post(&Notification::new(method::INITIALIZED, None).into()).await;
        sent.map_err(|error| status::failure(&target.url, &error))?;
        Ok(connected(target, handshake, tasks))
    }

    pub(crate) async fn call(&self, call: OutboundCall<'_>) -> Result<CallReply, CallError> {
        let (target, caller) = (&self.target, call.caller);
        let (sent, token) = target.encode(call);
        let sent_id = sent.id.clone();
        let number = sent_id.raw().read().unwrap_or_default();
        let caller_guard = caller.map(|caller| target.requests.register(number, caller));
        let headers = match target.version().is_stateless() {
            true => call.param_headers(),
            false => Vec::new(),
        };
        let cancel = CancelOnDrop::new(target, &self.tasks, sent_id.clone());
        let answered = cancel.answered();
        let answer = match target.post_with(&sent.into(), &headers).await {
            Ok(answer) => answer,
            Err(error) if error.is_unsent() => {
                cancel.disarm();
                return Err(CallError::NotSent(status::failure(&target.url, &error)));
            }
            Err(error) => {
                cancel.disarm();
                return Err(self.crashed_or(status::lost(&error)).await);
            }
        };
        let (id, caller) = (call.request.id.clone(), caller.cloned());
        let version = target.version();
        let pending = reply::PendingRequest { id, sent: sent_id, version, token, caller, answered };
        let reply = match answer.status() {
            status if status.is_success() => {
                match reply::read(
                    answer,
                    pending,
                    Some(target),
                    &target.clients.buffers,
                    &self.tasks,
                )
                .await
                {
                    Err(error @ CallError::Unknown { connection_broke: true, .. }) => {
                        Err(self.crashed_or(error).await)
                    }
                    Ok(CallReply::Stream(parts)) => {
                        let parts = parts.keeping(caller_guard).keeping(cancel);
                        return Ok(CallReply::Stream(parts));
                    }
                    reply => reply,
                }
            }
            StatusCode::TOO_MANY_REQUESTS => Err(busy(&answer)),
            StatusCode::SERVICE_UNAVAILABLE => Err(unavailable(answer).await),
            StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => Err(CallError::Unknown {
                why: Unknown::BadGateway,
                detail: format!(
                    "{} answered {}",
                    status::host_and_port(&target.url),
                    answer.status()
                ),
                connection_broke: false,
            }),
            _ => reply::refusal(answer, pending, target).await,
        };
        cancel.disarm();
        reply
    }

    /// If nothing listens any more, the connection broke because the server crashed.
    async fn crashed_or(&self, error: CallError) -> CallError {
        let local = self.target.clients.local;
        if let CallError::Unknown { detail, .. } = &error
            && local
            && liveness_socket::is_dead(&self.target.url).await
        {
            let (why, detail) = (Unknown::UpstreamCrashed, detail.clone());
            return CallError::Unknown { why, detail, connection_broke: true };
        }
        error
    }

    /// Keeps the subscription to a stateless server up to date while the connection lives.
    pub(crate) fn subscribe(&self, wanted: watch::Receiver<SubscriptionSet>) {
        let listening =
            subscription_stream::subscribe(Arc::clone(&self.target), self.incoming.clone(), wanted);
        self.tasks.spawn(self.alive.clone().run_until_cancelled_owned(listening));
    }

    pub(crate) fn is_stateless(&self) -> bool {
        !self.has_ping()
    }

    pub(crate) fn has_ping(&self) -> bool {
        matches!(self.target.mode, SessionMode::Session { .. })
    }

    /// Whether the process that listens on its port is stopped.
    pub(crate) async fn is_stopped(&self) -> bool {
        match self.target.url.port_or_known_default() {
            Some(port) if self.target.clients.local => info::is_stopped_on(port).await,
            Some(_) | None => false,
        }
    }

    /// Ends the session, so that the server can free it.
    pub(crate) async fn close(&self) {
        let _ = timeout(CLOSE_LIMIT, self.target.delete()).await;
    }
}

/// A connection after its handshake, with the tasks that live as long as it does.
fn connected(target: HttpTarget, handshake: Handshake, tasks: &TaskTracker) -> Connected {
    let target = Arc::new(target);
    let (send, incoming) = mpsc::channel(INCOMING_BUFFER);
    let alive = CancellationToken::new();
    if let SessionMode::Session { .. } = target.mode {
        let listening = session_stream::listen(Arc::clone(&target), send.clone(), tasks.clone());
        tasks.spawn(alive.clone().run_until_cancelled_owned(listening));
    }
    if target.clients.local {
        let (url, incoming) = (target.url.clone(), send.clone());
        let watching = async move {
            liveness_socket::until_closed(&url).await;
            let _ = incoming.send(ConnectionEvent::Closed(status::gone(&url))).await;
        };
        tasks.spawn(alive.clone().run_until_cancelled_owned(watching));
    }
    let connection = HttpConnection {
        target,
        tasks: tasks.clone(),
        incoming: send,
        alive: alive.clone(),
        _alive: alive.drop_guard(),
    };
    Connected { connection: Connection::Http(connection), handshake, incoming }
}

fn busy(answer: &HttpAnswer) -> CallError {
    CallError::Busy { wait: wait(answer) }
}

async fn unavailable(answer: HttpAnswer) -> CallError {
    let (wait, status) = (wait(&answer), answer.status());
    let body = excerpt(&reply::body_or_nothing(answer).await);
    let detail = format!("{status}: {body}").trim_end_matches([':', ' ']).to_owned();
    CallError::Unavailable { wait, detail }
}

/// The `Retry-After` of a busy server.
fn wait(answer: &HttpAnswer) -> Duration {
    let asked = answer.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let wait = asked.and_then(|asked| retry_after(asked, clock::now(), LONGEST_RETRY_AFTER));
    wait.unwrap_or(DEFAULT_RETRY_AFTER)
}
