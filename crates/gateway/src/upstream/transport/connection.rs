//! What every kind of connection to an upstream has in common.
//!
//! Two shapes cover all transports. Over Streamable HTTP each request is a POST with its own
//! answer ([`HttpConnection`]). Over pipes and over the older HTTP+SSE, messages flow both ways
//! and answers find their call by its id ([`Duplex`]). Callers do not know which one they use.

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, watch};

use evermoor_core::failure::outcome::Unknown;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::envelope::{Id, Message, Notification, Outcome, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::Handshake;

use super::duplex::Duplex;
use super::http::HttpConnection;
use crate::history::Count;
use crate::monitoring::redaction;
use crate::upstream::server_requests::Caller;
use crate::upstream::subscriptions::Wanted;
use crate::upstream::supervisor::resubscribe;

/// A live connection to an upstream.
pub(crate) enum Connection {
    Http(HttpConnection),
    Duplex(Box<Duplex>),
}

/// A connection that has been made, with what the upstream said of itself.
pub(crate) struct Connected {
    pub(crate) connection: Connection,
    pub(crate) handshake: Handshake,
    /// What the upstream sends of its own accord.
    pub(crate) incoming: mpsc::Receiver<Incoming>,
}

/// What an upstream sends without being asked.
#[derive(Debug)]
pub(crate) enum Incoming {
    Notification(Notification),
    /// The connection is dead, and this is why.
    Closed(Failure),
}

/// What an upstream answered.
pub enum Reply {
    /// The one answer.
    Whole(Response),
    /// Messages about the call, and at the end the one answer.
    Stream(ReplyStream),
}

/// Messages about one call as they arrive. The last one is its answer, whatever happens to the
/// upstream in between.
pub struct ReplyStream {
    first: Option<Message>,
    answered: bool,
    messages: mpsc::Receiver<Message>,
    /// What the editor is told if the upstream never answers.
    otherwise: Option<Box<Response>>,
    /// Ends when the answer is waited for no longer, with what the editor is told then, and whether
    /// an outage is the reason.
    unless: Option<BoxFuture<'static, GivenUp>>,
    count: Option<Count>,
    /// Lives for as long as somebody wants the answer.
    wanted: Vec<Box<dyn Send>>,
}

type GivenUp = (Response, bool);

/// Why a call got no answer from its upstream.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// Nothing was executed: it never left, or the upstream turned it away unread.
    #[error("{0}")]
    NotSent(Failure),
    /// The upstream wants credentials and turned the call away.
    #[error("{0}")]
    AuthRequired(Failure),
    /// The upstream is busy and turned the call away; it may be asked again after this long.
    #[error("it is busy")]
    Busy { wait: std::time::Duration },
    /// The upstream cannot serve now and turned the call away, perhaps not before it was read.
    #[error("{detail}")]
    Unavailable { wait: std::time::Duration, detail: String },
    /// It may have been executed.
    #[error("{detail}")]
    Unknown { why: Unknown, detail: String, connection_broke: bool },
}

/// The most that is read of one answer, one event or one line.
pub(crate) const LARGEST_REPLY: usize = 16 << 20;

impl Connection {
    /// Sends a request under an id of our own; the answer comes back under the caller's.
    pub(crate) async fn call(
        &self,
        request: &Request,
        caller: Option<&Caller>,
    ) -> Result<Reply, CallError> {
        match self {
            Self::Http(http) => http.call(request, caller).await,
            Self::Duplex(duplex) => duplex.call(request, caller).await,
        }
    }

    /// A request of the gateway's own, with its result.
    pub(crate) async fn ask(&self, called: &str, params: Option<Raw>) -> Result<Raw, Failure> {
        let request = Request::new(Id::number(0), called, params);
        let answer = self.call(&request, None).await;
        answer_of(called, answer).await
    }

    /// Asks for everything that editors want to hear of.
    pub(crate) async fn hear_of(&self, wanted: watch::Receiver<Wanted>, handshake: &Handshake) {
        match self {
            Self::Http(http) if !http.has_ping() => http.subscribe(wanted),
            Self::Duplex(duplex) if duplex.is_stateless() => {
                let wanted = wanted.borrow().clone();
                duplex.listen(&wanted).await;
            }
            Self::Http(_) | Self::Duplex(_) => {
                let wanted = wanted.borrow().clone();
                resubscribe::replay(self, handshake, wanted).await;
            }
        }
    }

    /// Stops asking for what nobody wants to hear of any more. An upstream without sessions is asked
    /// anew for all that is wanted now.
    pub(crate) async fn hear_less(&self, before: &Wanted, now: &Wanted) {
        match self {
            // It listens to one stream for everything, and opens another one.
            Self::Http(http) if !http.has_ping() => {}
            Self::Duplex(duplex) if duplex.is_stateless() => {
                if before.resources != now.resources {
                    duplex.listen(now).await;
                }
            }
            Self::Http(_) | Self::Duplex(_) => resubscribe::stop(self, before, now).await,
        }
    }

    /// Whether the upstream's revision knows `ping`.
    pub(crate) fn has_ping(&self) -> bool {
        match self {
            Self::Http(http) => http.has_ping(),
            Self::Duplex(duplex) => !duplex.is_stateless(),
        }
    }

    /// Says goodbye, as the transport does.
    pub(crate) async fn close(&self) {
        match self {
            Self::Http(http) => http.close().await,
            Self::Duplex(duplex) => duplex.close(),
        }
    }
}

/// The result in the answer to a request of the gateway's own.
pub(crate) async fn answer_of(
    called: &str,
    answer: Result<Reply, CallError>,
) -> Result<Raw, Failure> {
    let response = match answer {
        Ok(Reply::Whole(response)) => Some(response),
        Ok(Reply::Stream(messages)) => messages.answer().await,
        Err(CallError::NotSent(failure) | CallError::AuthRequired(failure)) => return Err(failure),
        Err(CallError::Busy { .. } | CallError::Unavailable { .. } | CallError::Unknown { .. }) => {
            None
        }
    };
    match response.map(|response| response.outcome) {
        Some(Outcome::Result(result)) => Ok(result),
        Some(Outcome::Error(error)) => {
            let said = error.text_member("message").unwrap_or_default();
            let what = format!("It answered `{called}` with an error: {said}.");
            Err(Failure::new(Code::Refused, what, "Look at the server's own log."))
        }
        None => {
            let what = format!("It did not answer `{called}`.");
            Err(Failure::new(Code::Timeout, what, "Evermoor tries again by itself."))
        }
    }
}

impl ReplyStream {
    pub(crate) fn new(messages: mpsc::Receiver<Message>) -> Self {
        Self {
            first: None,
            answered: false,
            messages,
            otherwise: None,
            unless: None,
            count: None,
            wanted: Vec::new(),
        }
    }

    /// A stream of which the first message has been read already.
    pub(crate) fn starting_with(first: Message, messages: mpsc::Receiver<Message>) -> Self {
        Self { first: Some(first), ..Self::new(messages) }
    }

    pub(crate) fn or(self, otherwise: Response) -> Self {
        Self { otherwise: Some(Box::new(otherwise)), ..self }
    }

    /// Waits for the answer until `unless` says what to tell in its place.
    pub(crate) fn unless(self, unless: impl Future<Output = GivenUp> + Send + 'static) -> Self {
        Self { unless: Some(unless.boxed()), ..self }
    }

    /// Counts the end of the call, if an outage touched it already or ends it.
    pub(crate) fn counted(self, count: Count) -> Self {
        Self { count: Some(count), ..self }
    }

    /// Keeps `wanted` until the answer has been read or nobody reads any more.
    pub(crate) fn keeping(mut self, wanted: impl Send + 'static) -> Self {
        self.wanted.push(Box::new(wanted));
        self
    }

    /// The next message; `None` after the answer, whatever else may have come.
    pub async fn next(&mut self) -> Option<Message> {
        if self.answered {
            return None;
        }
        let next = match self.first.take() {
            Some(first) => Some(first),
            None => self.receive().await,
        };
        let next = next.or_else(|| {
            if let Some(count) = self.count.take() {
                count.lost();
            }
            self.otherwise.take().map(|otherwise| Message::Response(*otherwise))
        });
        if let Some(Message::Response(_)) | None = next {
            if let Some(count) = self.count.take() {
                count.answered();
            }
            self.answered = true;
            self.unless = None;
            self.wanted.clear();
            self.messages.close();
        }
        next
    }

    async fn receive(&mut self) -> Option<Message> {
        let Some(unless) = &mut self.unless else { return self.messages.recv().await };
        let (given_up, by_outage) = tokio::select! {
            biased;
            given_up = unless => given_up,
            message = self.messages.recv() => return message,
        };
        // An answer that is here already, behind what nobody has read yet, is better than none.
        while let Ok(message) = self.messages.try_recv() {
            if let Message::Response(_) = message {
                return Some(message);
            }
        }
        if let Some(count) = self.count.take() {
            if by_outage { count.lost() } else { count.late() }
        }
        Some(Message::Response(given_up))
    }

    /// The answer alone.
    pub async fn answer(mut self) -> Option<Response> {
        while let Some(message) = self.next().await {
            if let Message::Response(response) = message {
                return Some(response);
            }
        }
        None
    }
}

/// The start of a body, for an error text. More is looked at, so that no secret is cut before it is found.
pub(crate) fn excerpt(body: &Bytes) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(2000)]);
    let text: String = redaction::scrub(&text).chars().take(200).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
