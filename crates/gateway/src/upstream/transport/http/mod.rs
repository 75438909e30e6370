//! MCP over HTTP, one POST per message: Streamable HTTP with sessions, and 2026-07-28 without.
//!
//! # Theory of operation
//! A call is a POST; its answer is the body, or a stream of events that ends with the answer. The
//! POST is the correlation: whatever comes back on it belongs to that call. Beside the calls, two
//! tasks live as long as the connection. One listens on the stream on which a server with sessions
//! speaks of its own accord. One holds a [`crate::upstream::supervisor::liveness_socket`] where the server is on this machine.
//! Either one says `Closed` when the server has gone or has forgotten the session.

mod cancel;
mod clients;
pub(super) mod errors;
mod handshake;
mod reply;
mod reply_events;
mod session_stream;
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
use evermoor_core::policy::timing::retry_after;
use evermoor_core::protocol::envelope::{Notification, Request};
use evermoor_core::protocol::mcp;
use evermoor_core::protocol::mcp::{Handshake, Revision, method};
use evermoor_platform::clock;

use super::connection::{CallError, Connected, Connection, Incoming, Reply, excerpt};
use crate::upstream::server_requests::Caller;
use crate::upstream::subscriptions::Wanted;
use crate::upstream::supervisor::liveness_socket;
use cancel::Unwanted;
pub(crate) use clients::Clients;
pub(super) use reply::body_or_nothing;
use target::{Era, Line};

/// A connection to an upstream over HTTP.
pub(crate) struct HttpConnection {
    line: Arc<Line>,
    tasks: TaskTracker,
    incoming: mpsc::Sender<Incoming>,
    alive: CancellationToken,
    _alive: DropGuard,
}

const GOODBYE_LIMIT: Duration = Duration::from_secs(2);
/// Nobody is left alone for longer, whatever they ask for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);
const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(1);
const INCOMING_BUFFER: usize = 64;

impl HttpConnection {
    /// Connects to a server that speaks 2026-07-28.
    pub(crate) async fn discover(
        clients: Clients,
        url: Url,
        tasks: &TaskTracker,
    ) -> Result<Connected, Failure> {
        let line = Line::new(clients, url, Era::stateless());
        let result = handshake::discover(&line, tasks).await?;
        let handshake = Handshake::discovered(&result).ok_or_else(|| errors::not_mcp(&line.url))?;
        Ok(connected(line, handshake, tasks))
    }

    /// Makes a session: the handshake of the revisions up to 2025-11-25.
    pub(crate) async fn initialize(
        clients: Clients,
        url: Url,
        tasks: &TaskTracker,
    ) -> Result<Connected, Failure> {
        let era = Era::Session { id: None, revision: Revision::LATEST };
        let mut line = Line::new(clients, url, era);
        let params = mcp::initialize_params(Revision::LATEST, crate::VERSION);
        let request = Request::new(line.next_id(), method::INITIALIZE, Some(params));
        let (result, id) = handshake::shake_hands(&line, &request, tasks).await?;
        let handshake = Handshake::read(&result).ok_or_else(|| errors::not_mcp(&line.url))?;
        line.era = Era::Session { id, revision: handshake.revision };
        let told = line.post(&Notification::new(method::INITIALIZED, None).into()).await;
        told.map_err(|error| errors::failure(&line.url, &error))?;
        Ok(connected(line, handshake, tasks))
    }

    pub(crate) async fn call(
        &self,
        request: &Request,
        caller: Option<&Caller>,
    ) -> Result<Reply, CallError> {
        let line = &self.line;
        let (sent, token) = line.outbound(request, caller);
        let sent_id = sent.id.clone();
        let number = sent_id.raw().read().unwrap_or_default();
        let at_work = caller.map(|caller| line.questions.working_for(number, caller));
        let told = caller.map_or(&[][..], |caller| &caller.headers);
        let unwanted = Unwanted::new(line, &self.tasks, sent_id.clone());
        let answered = unwanted.answered();
        let answer = match line.post_with(&sent.into(), told).await {
            Ok(answer) => answer,
            Err(error) if errors::never_sent(&error) => {
                unwanted.forget();
                return Err(CallError::NotSent(errors::failure(&line.url, &error)));
            }
            Err(error) => {
                unwanted.forget();
                return Err(self.crashed_or(errors::lost(&error)).await);
            }
        };
        let (id, caller) = (request.id.clone(), caller.cloned());
        let addressee = reply::Addressee { id, sent: sent_id, token, caller, answered };
        let reply = match answer.status() {
            status if status.is_success() => {
                match reply::read(answer, addressee, Some(line), &self.tasks).await {
                    Err(error @ CallError::Unknown { connection_broke: true, .. }) => {
                        Err(self.crashed_or(error).await)
                    }
                    Ok(Reply::Stream(messages)) => {
                        let messages = messages.keeping(at_work).keeping(unwanted);
                        return Ok(Reply::Stream(messages));
                    }
                    reply => reply,
                }
            }
            StatusCode::UNAUTHORIZED => {
                Err(CallError::AuthRequired(errors::refused(&line.url, answer).await))
            }
            StatusCode::TOO_MANY_REQUESTS => Err(busy(&answer)),
            StatusCode::SERVICE_UNAVAILABLE => Err(unavailable(answer).await),
            StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => Err(CallError::Unknown {
                why: Unknown::BadGateway,
                detail: format!("{} answered {}", errors::place(&line.url), answer.status()),
                connection_broke: false,
            }),
            _ => reply::refusal(answer, addressee, line).await,
        };
        unwanted.forget();
        reply
    }

    /// A connection that broke because nobody listens any more broke because the server died.
    async fn crashed_or(&self, error: CallError) -> CallError {
        let local = self.line.clients.local;
        if let CallError::Unknown { detail, .. } = &error
            && local
            && liveness_socket::is_dead(&self.line.url).await
        {
            let (why, detail) = (Unknown::UpstreamCrashed, detail.clone());
            return CallError::Unknown { why, detail, connection_broke: true };
        }
        error
    }

    /// Hears of what is wanted of a server without sessions, for as long as the connection lives.
    pub(crate) fn subscribe(&self, wanted: watch::Receiver<Wanted>) {
        let listening =
            subscription_stream::subscribe(Arc::clone(&self.line), self.incoming.clone(), wanted);
        self.tasks.spawn(self.alive.clone().run_until_cancelled_owned(listening));
    }

    pub(crate) fn has_ping(&self) -> bool {
        matches!(self.line.era, Era::Session { .. })
    }

    /// Ends the session, so that the server need not keep it.
    pub(crate) async fn close(&self) {
        let _ = timeout(GOODBYE_LIMIT, self.line.delete()).await;
    }
}

/// A line that works, with the tasks that live as long as it does.
fn connected(line: Line, handshake: Handshake, tasks: &TaskTracker) -> Connected {
    let line = Arc::new(line);
    let (send, incoming) = mpsc::channel(INCOMING_BUFFER);
    let alive = CancellationToken::new();
    if let Era::Session { .. } = line.era {
        let listening = session_stream::listen(Arc::clone(&line), send.clone(), tasks.clone());
        tasks.spawn(alive.clone().run_until_cancelled_owned(listening));
    }
    if line.clients.local {
        let (url, told) = (line.url.clone(), send.clone());
        let watching = async move {
            liveness_socket::tripped(&url).await;
            let _ = told.send(Incoming::Closed(errors::gone(&url))).await;
        };
        tasks.spawn(alive.clone().run_until_cancelled_owned(watching));
    }
    let connection = HttpConnection {
        line,
        tasks: tasks.clone(),
        incoming: send,
        alive: alive.clone(),
        _alive: alive.drop_guard(),
    };
    Connected { connection: Connection::Http(connection), handshake, incoming }
}

fn busy(answer: &reqwest::Response) -> CallError {
    CallError::Busy { wait: wait(answer) }
}

async fn unavailable(answer: reqwest::Response) -> CallError {
    let (wait, status) = (wait(&answer), answer.status());
    let said = excerpt(&reply::body_or_nothing(answer).await);
    let detail = format!("{status}: {said}").trim_end_matches([':', ' ']).to_owned();
    CallError::Unavailable { wait, detail }
}

/// How long a server that is busy asks to be left alone.
fn wait(answer: &reqwest::Response) -> Duration {
    let asked = answer.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let wait = asked.and_then(|asked| retry_after(asked, clock::now(), LONGEST_RETRY_AFTER));
    wait.unwrap_or(DEFAULT_RETRY_AFTER)
}
