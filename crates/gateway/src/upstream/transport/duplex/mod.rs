//! Messages both ways over one channel: stdio and HTTP+SSE.
//!
//! # Theory of operation
//! Every call gets a new id and an entry in the table of calls in flight. Everything that arrives
//! goes through one [`Inbox`], which passes answers and progress to their call by that id, answers
//! pings, and passes the rest on. An answer that belongs to no call is dropped: it came late or
//! twice. When the channel closes, every call in flight ends at once, because its sender in the
//! table is dropped.
//!
//! - [`inbox`]: passes on what arrives; [`outgoing`]: what is sent, and the result of sending it
//! - [`handshake`]: the handshake over such a channel

pub(crate) mod handshake;
mod inbox;
mod outgoing;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use evermoor_core::failure::outcome::{Answer, Unknown};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::envelope::{Id, Notification, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{SessionVersion, method};
use evermoor_core::protocol::translate::client_meta::ClientMeta;
use evermoor_core::protocol::version::ProtocolVersion;

use super::connection::{CallError, CallReply, ConnectionEvent, ReplyPart, ReplyStream};
use super::outbound::OutboundCall;
use crate::system::budget::AnswerCharge;
use crate::upstream::server_requests::ServerRequests;
use crate::upstream::subscriptions::SubscriptionSet;
pub(crate) use inbox::Inbox;
pub(crate) use outgoing::{Outgoing, SendError, SendReceipt};

/// A channel with messages both ways.
pub(crate) struct Duplex {
    outgoing: mpsc::Sender<Outgoing>,
    calls: PendingCalls,
    ids: AtomicU64,
    closed: CancellationToken,
    /// The protocol version that the upstream speaks; the latest with sessions before the handshake.
    version: ProtocolVersion,
    /// The metadata for every request, if the upstream speaks 2026-07-28.
    client_meta: Option<ClientMeta>,
    requests: ServerRequests,
    /// The open `subscriptions/listen` call to a stateless upstream.
    subscription: Mutex<Option<ReplyStream>>,
    /// The process at its other end, if the gateway started it.
    process: Option<u32>,
}

type PendingCalls = Arc<Mutex<BTreeMap<u64, PendingCall>>>;

/// A call in flight.
struct PendingCall {
    /// The caller's id and progress token.
    id: Id,
    /// The protocol version in which it is answered.
    version: ProtocolVersion,
    token: Option<Raw>,
    parts: mpsc::Sender<ReplyPart>,
    /// What the answer is charged to; `None` for a call of the gateway itself.
    answer_charge: Option<AnswerCharge>,
    sent: bool,
    /// It is a subscription, which stays open as long as the connection.
    is_subscription: bool,
    /// Why its answer was lost, if that is known.
    lost: Arc<OnceLock<(Unknown, String)>>,
}

/// A call to a busy upstream is retried after this long.
const BUSY_WAIT: Duration = Duration::from_secs(1);
/// How long a server may take to acknowledge a subscription.
const LISTEN_LIMIT: Duration = Duration::from_secs(2);
/// How many messages of a call, or of the upstream, are buffered.
const BUFFER: usize = 64;

/// A new channel: the side for callers, the side for the transport, the messages to send, and the
/// messages that belong to no call.
pub(crate) fn channel() -> (Duplex, Inbox, mpsc::Receiver<Outgoing>, mpsc::Receiver<ConnectionEvent>)
{
    let (outgoing, to_send) = mpsc::channel(BUFFER);
    let (incoming, received) = mpsc::channel(BUFFER);
    let calls = PendingCalls::default();
    let (closed, requests) = (CancellationToken::new(), ServerRequests::default());
    let closed_slot = Arc::new(Mutex::new(incoming.clone().try_reserve_owned().ok()));
    let inbox = Inbox {
        calls: Arc::clone(&calls),
        incoming,
        closed_slot,
        outgoing: outgoing.clone(),
        closed: closed.clone(),
        requests: requests.clone(),
    };
    let ids = AtomicU64::new(1);
    let subscription = Mutex::default();
    let version = ProtocolVersion::Session(SessionVersion::LATEST);
    let duplex = Duplex {
        outgoing,
        calls,
        ids,
        closed,
        version,
        client_meta: None,
        requests,
        subscription,
        process: None,
    };
    (duplex, inbox, to_send, received)
}

impl Duplex {
    pub(crate) async fn call(&self, call: OutboundCall<'_>) -> Result<CallReply, CallError> {
        let OutboundCall { request, caller, .. } = call;
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let (sent, token) = call.encode(number, self.version, self.client_meta.as_ref());
        let (parts, mut received) = mpsc::channel(BUFFER);
        let lost = Arc::new(OnceLock::new());
        let call = PendingCall {
            id: request.id.clone(),
            version: self.version,
            token,
            parts,
            answer_charge: caller.map(|caller| caller.answer_charge.clone()),
            sent: false,
            is_subscription: request.method == method::LISTEN,
            lost: Arc::clone(&lost),
        };
        self.calls.lock().insert(number, call);
        let in_flight = InFlightGuard {
            number,
            calls: Arc::clone(&self.calls),
            outgoing: self.outgoing.clone(),
        };
        let caller_guard = caller.map(|caller| self.requests.register(number, caller));
        if self.closed.is_cancelled() {
            return Err(CallError::NotSent(gone("the connection is closed")));
        }
        match self.send(sent.to_bytes()).await {
            Ok(()) => {
                if let Some(call) = self.calls.lock().get_mut(&number) {
                    call.sent = true;
                }
            }
            Err(SendError::NotSent(why)) => {
                in_flight.finish();
                return Err(CallError::NotSent(gone(&why)));
            }
            Err(SendError::Unknown(detail)) => return Err(broke(detail)),
            Err(SendError::Busy) => {
                in_flight.finish();
                return Err(CallError::Busy { wait: BUSY_WAIT });
            }
            Err(SendError::AuthRequired(failure)) => {
                in_flight.finish();
                return Err(CallError::AuthRequired(failure));
            }
            Err(SendError::Unavailable(detail)) => {
                in_flight.finish();
                return Err(CallError::Unavailable { wait: BUSY_WAIT, detail });
            }
            Err(SendError::Refused(text)) => {
                in_flight.finish();
                let response = Response::error(Some(request.id.clone()), -32603, &text);
                return Ok(CallReply::Whole(Answer::from_upstream(response, self.version)));
            }
        }
        match received.recv().await {
            Some(ReplyPart::Answer(answer)) => {
                in_flight.finish();
                Ok(CallReply::Whole(answer))
            }
            Some(first) => {
                let stream = ReplyStream::starting_with(first, received);
                let stream = stream.keeping(in_flight).keeping(caller_guard);
                Ok(CallReply::Stream(stream))
            }
            None => Err(match lost.get().cloned() {
                Some((why, detail)) => CallError::Unknown { why, detail, connection_broke: false },
                None => broke("it ended before the reply".into()),
            }),
        }
    }

    pub(crate) async fn notify(&self, notification: &Notification) -> Result<(), Failure> {
        match self.send(notification.to_bytes()).await {
            Ok(()) => Ok(()),
            Err(
                SendError::NotSent(why)
                | SendError::Unknown(why)
                | SendError::Unavailable(why)
                | SendError::Refused(why),
            ) => Err(gone(&why)),
            Err(SendError::AuthRequired(failure)) => Err(failure),
            Err(SendError::Busy) => Err(gone("it does not read its input")),
        }
    }

    /// Encodes requests for this version from now on.
    pub(crate) fn set_version(&mut self, version: ProtocolVersion) {
        self.version = version;
        self.client_meta = version.is_stateless().then(|| ClientMeta::gateway(crate::VERSION));
    }

    /// Names the process at its other end.
    pub(crate) fn set_process(&mut self, leader: Option<u32>) {
        self.process = leader;
    }

    pub(crate) fn process(&self) -> Option<u32> {
        self.process
    }

    pub(crate) fn is_stateless(&self) -> bool {
        self.client_meta.is_some()
    }

    /// Whether nothing can be sent any more. The reason may still be in the channel.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.is_cancelled() || self.outgoing.is_closed()
    }

    /// Subscribes to everything that is wanted from a stateless upstream, then ends the subscription
    /// before it.
    pub(crate) async fn listen(&self, wanted: &SubscriptionSet) {
        let request = Request::new(Id::number(0), method::LISTEN, Some(wanted.filter()));
        let opened = timeout(LISTEN_LIMIT, self.call(OutboundCall::of_gateway(&request))).await;
        if let Ok(Ok(CallReply::Stream(stream))) = opened {
            let previous = self.subscription.lock().replace(stream);
            drop(previous);
            wanted.acknowledged.set(&wanted.resources);
        }
    }

    /// Closes the channel, which ends the transport.
    pub(crate) fn close(&self) {
        self.closed.cancel();
    }

    async fn send(&self, text: Bytes) -> Result<(), SendError> {
        let (receipt, sent) = SendReceipt::channel();
        let not_sent = || SendError::NotSent("the connection is closed".into());
        self.outgoing.send(Outgoing { text, receipt }).await.map_err(|_| not_sent())?;
        // If the transport ends with the message in its queue, it was not sent.
        sent.await.unwrap_or_else(|_| Err(not_sent()))
    }
}

impl Drop for Duplex {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

/// An entry in the table of calls in flight. Dropping it cancels the call at the upstream.
struct InFlightGuard {
    number: u64,
    calls: PendingCalls,
    outgoing: mpsc::Sender<Outgoing>,
}

impl InFlightGuard {
    /// Removes the entry of a call that has ended, so that it is not cancelled.
    fn finish(self) {
        self.calls.lock().remove(&self.number);
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        if self.calls.lock().remove(&self.number).is_none() {
            return;
        }
        let params = Raw::of(&serde_json::json!({ "requestId": self.number }));
        let cancelled = Notification::new("notifications/cancelled", Some(params));
        let (text, receipt) = (cancelled.to_bytes(), SendReceipt::ignored());
        let _ = self.outgoing.try_send(Outgoing { text, receipt });
    }
}

fn gone(why: &str) -> Failure {
    let what = format!("The connection is lost: {why}.");
    Failure::new(Code::ConnectionLost, what, "Evermoor reconnects automatically.")
}

fn broke(detail: String) -> CallError {
    CallError::Unknown { why: Unknown::ConnectionReset, detail, connection_broke: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::protocol::envelope::Message;

    fn request(number: u64) -> Request {
        Request::new(Id::number(number), "tools/call", Some(Raw::of(&serde_json::json!({}))))
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_a_call_cancels_it_at_the_upstream() {
        let (duplex, _inbox, mut to_send, _incoming) = channel();
        let request = request(1);
        let mut call = Box::pin(duplex.call(OutboundCall::of_gateway(&request)));
        assert!(timeout(Duration::from_millis(1), &mut call).await.is_err());
        to_send.recv().await.unwrap().receipt.send(Ok(()));
        assert!(timeout(Duration::from_millis(1), &mut call).await.is_err());
        drop(call);
        let cancelled = to_send.recv().await.unwrap();
        assert!(!cancelled.receipt.is_closed());
        assert!(
            cancelled.text.starts_with(br#"{"jsonrpc":"2.0","method":"notifications/cancelled""#)
        );
    }

    #[tokio::test]
    async fn a_call_dropped_in_the_queue_is_marked_as_cancelled() {
        let (duplex, _inbox, mut to_send, _incoming) = channel();
        let request = request(1);
        let mut call = Box::pin(duplex.call(OutboundCall::of_gateway(&request)));
        assert!(timeout(Duration::from_millis(1), &mut call).await.is_err());
        drop(call);
        assert!(to_send.recv().await.unwrap().receipt.is_closed());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_arrives_however_much_progress_is_buffered() {
        let (duplex, inbox, mut to_send, _incoming) = channel();
        let params = Raw::of(&serde_json::json!({ "_meta": { "progressToken": "mine" } }));
        let request = Request::new(Id::number(9), "tools/call", Some(params));
        let mut call = Box::pin(duplex.call(OutboundCall::of_gateway(&request)));
        assert!(timeout(Duration::from_millis(1), &mut call).await.is_err());
        to_send.recv().await.unwrap().receipt.send(Ok(()));
        assert!(timeout(Duration::from_millis(1), &mut call).await.is_err());
        let step = serde_json::json!({ "progressToken": 1, "progress": 1 });
        for _ in 0..2 * BUFFER {
            inbox.deliver(
                Notification::new("notifications/progress", Some(Raw::of(&step))).into(),
                None,
            );
        }
        inbox.deliver(Message::Response(Response::result(Id::number(1), Raw::of("done"))), None);
        let Ok(CallReply::Stream(parts)) = call.await else { panic!("progress came first") };
        assert!(parts.answer().await.is_some(), "the answer was dropped");
    }

    #[tokio::test]
    async fn a_ping_is_answered() {
        let (_duplex, inbox, mut to_send, _incoming) = channel();
        inbox.deliver(Request::new(Id::number(7), "ping", None).into(), None);
        let answer = to_send.recv().await.unwrap();
        assert!(!answer.receipt.is_closed());
        assert_eq!(&answer.text[..], br#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    }

    #[tokio::test]
    async fn the_close_is_reported_however_much_else_is_buffered() {
        let (_duplex, inbox, _to_send, mut incoming) = channel();
        for _ in 0..1000 {
            inbox.deliver(Notification::new("notifications/message", None).into(), None);
        }
        inbox.close(gone("first"));
        inbox.close(gone("second"));
        let mut ends = Vec::new();
        while let Ok(message) = incoming.try_recv() {
            if let ConnectionEvent::Closed(failure) = message {
                ends.push(failure);
            }
        }
        assert_eq!(ends, [gone("first")]);
    }
}
