//! A connection to an upstream, over any transport, and the reply to a call.
//!
//! There are two kinds. Over Streamable HTTP each request is a POST with its own answer
//! ([`HttpConnection`]). Over stdio and HTTP+SSE, messages flow both ways and answers are matched to
//! calls by id ([`Duplex`]). Callers do not know which one they use.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, watch};

use evermoor_core::failure::outcome::{Answer, Unknown};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::envelope::{Id, Notification, Outcome, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::Handshake;
use evermoor_platform::process::info;

use super::duplex::Duplex;
use super::http::HttpConnection;
use super::live_connection::LateCall;
use super::outbound::OutboundCall;
use super::resubscribe;
use crate::history::ReplyTally;
use crate::system::budget::AnswerCharge;
use crate::system::redaction;
use crate::upstream::LiveConnection;
use crate::upstream::delivery::in_flight::CallGuard;
use crate::upstream::subscriptions::SubscriptionSet;

/// A live connection to an upstream.
pub(crate) enum Connection {
    Http(HttpConnection),
    Duplex(Box<Duplex>),
}

/// A new connection with the result of its handshake.
pub(crate) struct Connected {
    pub(crate) connection: Connection,
    pub(crate) handshake: Handshake,
    /// Messages that belong to no call.
    pub(crate) incoming: mpsc::Receiver<ConnectionEvent>,
}

/// What an upstream sends outside of calls.
#[derive(Debug)]
pub(crate) enum ConnectionEvent {
    Notification(Notification),
    /// The connection is dead, for this reason.
    Closed(Failure),
}

/// The reply to a call.
pub enum CallReply {
    /// Only the answer.
    Whole(Answer),
    /// Notifications about the call, then the answer.
    Stream(ReplyStream),
}

/// A part of a streamed reply.
#[derive(Debug)]
pub enum ReplyPart {
    Notification(Notification),
    Answer(Answer),
}

/// The parts of a reply as they arrive. The last one is always an answer, even if the upstream never
/// sends one.
pub struct ReplyStream {
    first: Option<ReplyPart>,
    answered: bool,
    parts: mpsc::Receiver<ReplyPart>,
    /// The answer if the stream ends without one.
    fallback: Option<Box<Answer>>,
    /// Resolves when the call is given up.
    give_up: Option<BoxFuture<'static, GivenUp>>,
    /// The connection that it arrives on, and the call's place among those in flight.
    live: Option<(Arc<LiveConnection>, CallGuard)>,
    /// What the answer is charged to, and the answer if that has no room.
    charge: Option<(AnswerCharge, Box<Answer>)>,
    count: Option<ReplyTally>,
    /// Dropped when the answer has been read or the stream is dropped.
    guards: Vec<Box<dyn Send>>,
}

/// The answer to a call that was given up, and whether an outage is the reason.
type GivenUp = (Answer, bool);

/// Why a call got no answer from the upstream.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// Nothing was executed: it was never sent, or the upstream rejected it unread.
    #[error("{0}")]
    NotSent(Failure),
    /// The upstream rejected the call because it requires credentials.
    #[error("{0}")]
    AuthRequired(Failure),
    /// The upstream is busy and rejected the call; it may be retried after `wait`.
    #[error("it is busy")]
    Busy { wait: std::time::Duration },
    /// The upstream is unavailable and rejected the call, perhaps after reading it.
    #[error("{detail}")]
    Unavailable { wait: std::time::Duration, detail: String },
    /// It may have been executed.
    #[error("{detail}")]
    Unknown { why: Unknown, detail: String, connection_broke: bool },
}

/// The size limit of one answer, event or line.
pub(crate) const LARGEST_REPLY: usize = 16 << 20;

impl Connection {
    /// Encodes a call for this server and sends it under a new id. The answer has the caller's id.
    pub(crate) async fn call(&self, call: OutboundCall<'_>) -> Result<CallReply, CallError> {
        match self {
            Self::Http(http) => http.call(call).await,
            Self::Duplex(duplex) => duplex.call(call).await,
        }
    }

    /// Whether the parameters of tools are repeated in headers where the server wants it.
    pub(crate) fn repeats_parameters(&self) -> bool {
        match self {
            Self::Http(http) => http.is_stateless(),
            Self::Duplex(_) => false,
        }
    }

    /// Sends a request of the gateway itself and returns its result.
    pub(crate) async fn request(&self, method: &str, params: Option<Raw>) -> Result<Raw, Failure> {
        let request = Request::new(Id::number(0), method, params);
        let answer = self.call(OutboundCall::of_gateway(&request)).await;
        result_of(method, answer).await
    }

    /// Subscribes to everything that editors want.
    pub(crate) async fn subscribe(
        &self,
        wanted: watch::Receiver<SubscriptionSet>,
        handshake: &Handshake,
    ) {
        match self {
            Self::Http(http) if !http.has_ping() => http.subscribe(wanted),
            Self::Duplex(duplex) if duplex.is_stateless() => {
                let wanted = wanted.borrow().clone();
                duplex.listen(&wanted).await;
            }
            Self::Http(_) | Self::Duplex(_) => {
                let wanted = wanted.borrow().clone();
                resubscribe::restore(self, handshake, wanted).await;
            }
        }
    }

    /// Unsubscribes from what no editor wants any more. A stateless upstream gets a new subscription
    /// for everything that is wanted now.
    pub(crate) async fn unsubscribe(&self, before: &SubscriptionSet, now: &SubscriptionSet) {
        match self {
            // The task of the subscription stream watches the set and opens a new stream.
            Self::Http(http) if !http.has_ping() => {}
            Self::Duplex(duplex) if duplex.is_stateless() => {
                if before.resources != now.resources {
                    duplex.listen(now).await;
                }
            }
            Self::Http(_) | Self::Duplex(_) => resubscribe::unsubscribe(self, before, now).await,
        }
    }

    /// Whether the upstream's protocol version has `ping`.
    pub(crate) fn has_ping(&self) -> bool {
        match self {
            Self::Http(http) => http.has_ping(),
            Self::Duplex(duplex) => !duplex.is_stateless(),
        }
    }

    /// Whether the server's process is known to be stopped, by a signal or a debugger.
    pub(crate) async fn is_stopped(&self) -> bool {
        match self {
            Self::Http(http) => http.is_stopped().await,
            Self::Duplex(duplex) => match duplex.process() {
                Some(leader) => info::group_is_stopped(leader).await,
                None => false,
            },
        }
    }

    /// Closes the connection in the way of its transport.
    pub(crate) async fn close(&self) {
        match self {
            Self::Http(http) => http.close().await,
            Self::Duplex(duplex) => duplex.close(),
        }
    }
}

/// The result of a request of the gateway itself.
pub(crate) async fn result_of(
    method: &str,
    answer: Result<CallReply, CallError>,
) -> Result<Raw, Failure> {
    let answer = match answer {
        Ok(CallReply::Whole(answer)) => Some(answer),
        Ok(CallReply::Stream(parts)) => parts.answer().await,
        Err(CallError::NotSent(failure) | CallError::AuthRequired(failure)) => return Err(failure),
        Err(CallError::Busy { .. } | CallError::Unavailable { .. } | CallError::Unknown { .. }) => {
            None
        }
    };
    match answer.map(|answer| answer.response.outcome) {
        Some(Outcome::Result(result)) => Ok(result),
        Some(Outcome::Error(error)) => {
            let message = error.text_member("message").unwrap_or_default();
            let what = format!("It answered `{method}` with an error: {message}.");
            Err(Failure::new(Code::Refused, what, "Check the server's log."))
        }
        None => {
            let what = format!("It did not answer `{method}`.");
            Err(Failure::new(Code::Timeout, what, "Evermoor retries automatically."))
        }
    }
}

impl ReplyStream {
    pub(crate) fn new(parts: mpsc::Receiver<ReplyPart>) -> Self {
        Self {
            first: None,
            answered: false,
            parts,
            fallback: None,
            give_up: None,
            live: None,
            charge: None,
            count: None,
            guards: Vec::new(),
        }
    }

    /// A stream whose first part has been read already.
    pub(crate) fn starting_with(first: ReplyPart, parts: mpsc::Receiver<ReplyPart>) -> Self {
        Self { first: Some(first), ..Self::new(parts) }
    }

    /// Sets the answer for a stream that ends without one.
    pub(crate) fn or(self, fallback: Answer) -> Self {
        Self { fallback: Some(Box::new(fallback)), ..self }
    }

    /// Waits for the answer until `give_up` resolves with one in its place.
    pub(crate) fn until(self, give_up: impl Future<Output = GivenUp> + Send + 'static) -> Self {
        Self { give_up: Some(give_up.boxed()), ..self }
    }

    /// Counts the call as in flight on `live`, and what arrives as a sign of life of the upstream.
    pub(crate) fn arriving_on(self, live: Arc<LiveConnection>, guard: CallGuard) -> Self {
        Self { live: Some((live, guard)), ..self }
    }

    /// Charges the editor for the answer, or answers `dropped` if there is no room.
    pub(crate) fn handing_over(self, charge: AnswerCharge, dropped: Answer) -> Self {
        Self { charge: Some((charge, Box::new(dropped))), ..self }
    }

    /// Counts the end of the call if an outage affects it.
    pub(crate) fn counted(self, count: ReplyTally) -> Self {
        Self { count: Some(count), ..self }
    }

    /// Keeps `guard` until the answer has been read or the stream is dropped.
    pub(crate) fn keeping(mut self, guard: impl Send + 'static) -> Self {
        self.guards.push(Box::new(guard));
        self
    }

    /// The next part; `None` after the answer. Cancel safe.
    pub async fn next(&mut self) -> Option<ReplyPart> {
        if self.answered {
            return None;
        }
        let next = match self.first.take() {
            Some(first) => Some(first),
            None => self.receive().await,
        };
        if let (Some(_), Some((live, _))) = (&next, &self.live) {
            live.record_activity();
        }
        let next = match next {
            Some(ReplyPart::Answer(answer)) => Some(self.hand_over(answer).await),
            next => next,
        };
        let next = next.or_else(|| {
            if let Some(count) = self.count.take() {
                count.lost();
            }
            self.fallback.take().map(|fallback| ReplyPart::Answer(*fallback))
        });
        if let Some(ReplyPart::Answer(_)) | None = next {
            if let Some(count) = self.count.take() {
                count.answered();
            }
            self.answered = true;
            self.give_up = None;
            self.live = None;
            self.guards.clear();
            self.parts.close();
        }
        next
    }

    /// The answer, once its editor is charged for it.
    async fn hand_over(&mut self, answer: Answer) -> ReplyPart {
        let Some((charge, _)) = &self.charge else { return ReplyPart::Answer(answer) };
        let charge = charge.clone();
        // Stays the next part if the caller does not wait.
        let part = self.first.insert(ReplyPart::Answer(answer));
        if let (Err(_), Some((_, dropped))) = (charge.hand_over().await, self.charge.take()) {
            *part = ReplyPart::Answer(*dropped);
        }
        self.first.take().expect("it was just inserted")
    }

    async fn receive(&mut self) -> Option<ReplyPart> {
        let Some(give_up) = &mut self.give_up else { return self.parts.recv().await };
        let (given_up, by_outage) = tokio::select! {
            biased;
            given_up = give_up => given_up,
            part = self.parts.recv() => return part,
        };
        // An answer may already be in the buffer, behind notifications that were not read yet.
        while let Ok(part) = self.parts.try_recv() {
            if let ReplyPart::Answer(_) = part {
                return Some(part);
            }
        }
        if let Some(count) = self.count.take() {
            if by_outage { count.lost() } else { count.late() }
        }
        if let Some((live, _)) = self.live.take().filter(|_| by_outage) {
            live.keep_call(self.rest());
        }
        Some(ReplyPart::Answer(given_up))
    }

    /// Waits for the answer of a call that was given up. The call stays open at the upstream meanwhile.
    fn rest(&mut self) -> LateCall {
        let (_, nothing) = mpsc::channel(1);
        let mut parts = std::mem::replace(&mut self.parts, nothing);
        let guards = std::mem::take(&mut self.guards);
        async move {
            let mut answered = false;
            while let Some(part) = parts.recv().await {
                answered |= matches!(part, ReplyPart::Answer(_));
            }
            drop(guards);
            answered
        }
        .boxed()
    }

    /// Skips to the answer.
    pub async fn answer(mut self) -> Option<Answer> {
        while let Some(part) = self.next().await {
            if let ReplyPart::Answer(answer) = part {
                return Some(answer);
            }
        }
        None
    }
}

/// The start of a body, for an error text.
pub(crate) fn excerpt(body: &Bytes) -> String {
    redaction::excerpt(body, 200)
}
