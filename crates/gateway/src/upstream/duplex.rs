//! Messages both ways over one channel: pipes, and the older HTTP+SSE.
//!
//! # Theory of operation
//! Every call gets an id of our own and a place in the table of calls in flight. Whatever arrives
//! goes through one [`Inbox`], which hands answers and progress to the call they belong to by that
//! id, answers pings, and passes the rest on. An answer that belongs to no call is dropped and
//! counted: it came too late or twice. When the channel ends, every call in flight learns of it at
//! once, because its sender in the table is dropped.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use evermoor_core::envelope::{Id, Message, Notification, Request, Response};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::json::Raw;
use evermoor_core::outcome::Unknown;
use evermoor_core::progress;

use super::connection::{CallError, Incoming, Reply, ReplyStream, own_answer};

/// A channel with messages both ways.
pub(crate) struct Duplex {
    outgoing: mpsc::Sender<Outgoing>,
    calls: Calls,
    ids: AtomicU64,
    closed: CancellationToken,
}

/// One message on its way out, and where to say what became of it.
pub(super) struct Outgoing {
    pub(super) text: Bytes,
    pub(super) fate: oneshot::Sender<Result<(), SendError>>,
}

/// Why a message did not get out.
#[derive(Clone, Debug)]
pub(super) enum SendError {
    /// Not one complete message left.
    NotSent(String),
    /// It may have arrived.
    Unknown(String),
}

/// Where everything that arrives goes.
#[derive(Clone)]
pub(super) struct Inbox {
    calls: Calls,
    incoming: mpsc::Sender<Incoming>,
    outgoing: mpsc::Sender<Outgoing>,
    closed: CancellationToken,
}

type Calls = Arc<Mutex<HashMap<u64, Call>>>;

/// A call in flight.
struct Call {
    /// The caller's own id and progress token.
    id: Id,
    token: Option<Raw>,
    messages: mpsc::Sender<Message>,
}

/// How many messages about a call, or from the upstream, wait for their reader.
const BUFFER: usize = 64;

/// A new channel: the side for callers, the side for the transport, what is to be sent, and what
/// the upstream sends of its own accord.
pub(super) fn channel() -> (Duplex, Inbox, mpsc::Receiver<Outgoing>, mpsc::Receiver<Incoming>) {
    let (outgoing, to_send) = mpsc::channel(BUFFER);
    let (incoming, received) = mpsc::channel(BUFFER);
    let calls = Calls::default();
    let closed = CancellationToken::new();
    let inbox = Inbox {
        calls: Arc::clone(&calls),
        incoming,
        outgoing: outgoing.clone(),
        closed: closed.clone(),
    };
    let duplex = Duplex { outgoing, calls, ids: AtomicU64::new(1), closed };
    (duplex, inbox, to_send, received)
}

impl Duplex {
    pub(super) async fn call(&self, request: &Request) -> Result<Reply, CallError> {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let (params, token) = progress::outbound(request.params.as_ref(), number);
        let sent = Request::new(Id::number(number), &request.method, params);
        let (messages, mut received) = mpsc::channel(BUFFER);
        let call = Call { id: request.id.clone(), token, messages };
        self.calls.lock().insert(number, call);
        let in_flight =
            InFlight { number, calls: Arc::clone(&self.calls), outgoing: self.outgoing.clone() };
        if self.closed.is_cancelled() {
            return Err(CallError::NotSent(gone("the connection is closed")));
        }
        match self.send(sent.to_bytes()).await {
            Ok(()) => {}
            Err(SendError::NotSent(why)) => {
                in_flight.forget();
                return Err(CallError::NotSent(gone(&why)));
            }
            Err(SendError::Unknown(detail)) => return Err(broke(detail)),
        }
        match received.recv().await {
            Some(Message::Response(response)) => {
                in_flight.forget();
                Ok(Reply::Whole(response))
            }
            Some(first) => {
                let stream = ReplyStream::starting_with(first, received).keeping(in_flight);
                Ok(Reply::Stream(stream))
            }
            None => Err(broke("it ended before the reply".into())),
        }
    }

    pub(super) async fn notify(&self, notification: &Notification) -> Result<(), Failure> {
        match self.send(notification.to_bytes()).await {
            Ok(()) => Ok(()),
            Err(SendError::NotSent(why) | SendError::Unknown(why)) => Err(gone(&why)),
        }
    }

    /// Ends the channel; the transport sees it and goes.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    async fn send(&self, text: Bytes) -> Result<(), SendError> {
        let (fate, sent) = oneshot::channel();
        let not_sent = || SendError::NotSent("the connection is closed".into());
        self.outgoing.send(Outgoing { text, fate }).await.map_err(|_| not_sent())?;
        // A transport that ends with a message in its queue has not sent it.
        sent.await.unwrap_or_else(|_| Err(not_sent()))
    }
}

impl Drop for Duplex {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

impl Inbox {
    /// Hands on what arrived.
    pub(super) fn deliver(&self, message: Message) {
        match message {
            Message::Response(response) => self.answer(response),
            Message::Notification(notification)
                if notification.method == "notifications/progress" =>
            {
                self.progress(notification);
            }
            Message::Notification(notification) => {
                if self.incoming.try_send(Incoming::Notification(notification)).is_err() {
                    tracing::debug!("a notification was dropped: too many wait");
                }
            }
            Message::Request(request) => self.respond(&request),
        }
    }

    /// The channel has ended: every call in flight and the supervisor learn why.
    pub(super) fn close(&self, failure: Failure) {
        self.closed.cancel();
        self.calls.lock().clear();
        let _ = self.incoming.try_send(Incoming::Closed(failure));
    }

    /// Resolves when nobody uses the channel any more.
    pub(super) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    fn answer(&self, response: Response) {
        let number = response.id.as_ref().and_then(|id| id.raw().read::<u64>().ok());
        let call = number.and_then(|number| self.calls.lock().remove(&number));
        let Some(call) = call else {
            return tracing::debug!("an answer to no call in flight was dropped");
        };
        let response = Response { id: Some(call.id), outcome: response.outcome };
        let _ = call.messages.try_send(Message::Response(response));
    }

    fn progress(&self, notification: Notification) {
        let Some((number, params)) = progress::token_number(&notification) else { return };
        let calls = self.calls.lock();
        let Some((call, token)) =
            calls.get(&number).and_then(|call| Some((call, call.token.as_ref()?)))
        else {
            return;
        };
        let params = Some(params.with("progressToken", token));
        let progress = Notification { params, ..notification };
        // A reader that is this far behind can do without one step.
        let _ = call.messages.try_send(Message::Notification(progress));
    }

    fn respond(&self, request: &Request) {
        let (fate, _) = oneshot::channel();
        let text = own_answer(request).to_bytes();
        let _ = self.outgoing.try_send(Outgoing { text, fate });
    }
}

/// A place in the table, given back when nobody waits for the answer any more. The upstream is
/// told then, so that it need not finish what nobody wants.
struct InFlight {
    number: u64,
    calls: Calls,
    outgoing: mpsc::Sender<Outgoing>,
}

impl InFlight {
    /// There is nothing to give back and nobody to tell.
    fn forget(self) {
        self.calls.lock().remove(&self.number);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.calls.lock().remove(&self.number).is_none() {
            return;
        }
        let params = Raw::of(&serde_json::json!({ "requestId": self.number }));
        let cancelled = Notification::new("notifications/cancelled", Some(params));
        let (fate, _) = oneshot::channel();
        let _ = self.outgoing.try_send(Outgoing { text: cancelled.to_bytes(), fate });
    }
}

fn gone(why: &str) -> Failure {
    let what = format!("It cannot be spoken to: {why}.");
    Failure::new(Code::ConnectionLost, what, "Evermoor reconnects by itself.")
}

fn broke(detail: String) -> CallError {
    CallError::Unknown { why: Unknown::ConnectionReset, detail, connection_broke: true }
}
