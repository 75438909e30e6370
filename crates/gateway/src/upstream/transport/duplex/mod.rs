//! Messages both ways over one channel: pipes, and the older HTTP+SSE.
//!
//! # Theory of operation
//! Every call gets an id of our own and a place in the table of calls in flight. Whatever arrives
//! goes through one [`Inbox`], which hands answers and progress to the call they belong to by that
//! id, answers pings, and passes the rest on. An answer that belongs to no call is dropped and
//! counted: it came too late or twice. When the channel ends, every call in flight learns of it at
//! once, because its sender in the table is dropped.

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

use evermoor_core::failure::outcome::Unknown;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::envelope::{Id, Message, Notification, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::progress;
use evermoor_core::protocol::translate::client_meta::WhoAsks;

use super::connection::{CallError, Incoming, Reply, ReplyStream};
use crate::upstream::server_requests;
use crate::upstream::server_requests::{Caller, Questions};
use crate::upstream::subscriptions::Wanted;
pub(crate) use inbox::Inbox;
pub(crate) use outgoing::{Fate, Outgoing, SendError};

/// A channel with messages both ways.
pub(crate) struct Duplex {
    outgoing: mpsc::Sender<Outgoing>,
    calls: Calls,
    ids: AtomicU64,
    closed: CancellationToken,
    /// Set if the upstream speaks 2026-07-28: then every request says who asks.
    who_asks: Option<WhoAsks>,
    questions: Questions,
    /// The call by which an upstream without sessions is asked for news, for as long as it is kept.
    news: Mutex<Option<ReplyStream>>,
}

type Calls = Arc<Mutex<BTreeMap<u64, Call>>>;

/// A call in flight.
struct Call {
    /// The caller's own id and progress token.
    id: Id,
    token: Option<Raw>,
    messages: mpsc::Sender<Message>,
    /// The upstream has it.
    sent: bool,
    /// It lasts as long as the connection, and nobody waits for its end.
    listens: bool,
    /// Why no answer will come, if it is known.
    lost: Arc<OnceLock<(Unknown, String)>>,
}

/// An upstream that is at work is asked again after this long.
const BUSY_WAIT: Duration = Duration::from_secs(1);
/// A server that takes longer to say that it will tell the news does not.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many messages about a call, or from the upstream, wait for their reader.
const BUFFER: usize = 64;

/// A new channel: the side for callers, the side for the transport, what is to be sent, and what
/// the upstream sends of its own accord.
pub(crate) fn channel() -> (Duplex, Inbox, mpsc::Receiver<Outgoing>, mpsc::Receiver<Incoming>) {
    let (outgoing, to_send) = mpsc::channel(BUFFER);
    let (incoming, received) = mpsc::channel(BUFFER);
    let calls = Calls::default();
    let (closed, questions) = (CancellationToken::new(), Questions::default());
    let last_word = Arc::new(Mutex::new(incoming.clone().try_reserve_owned().ok()));
    let inbox = Inbox {
        calls: Arc::clone(&calls),
        incoming,
        last_word,
        outgoing: outgoing.clone(),
        closed: closed.clone(),
        questions: questions.clone(),
    };
    let ids = AtomicU64::new(1);
    let news = Mutex::default();
    let duplex = Duplex { outgoing, calls, ids, closed, who_asks: None, questions, news };
    (duplex, inbox, to_send, received)
}

impl Duplex {
    pub(crate) async fn call(
        &self,
        request: &Request,
        caller: Option<&Caller>,
    ) -> Result<Reply, CallError> {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let (params, token) = progress::outbound(request.params.as_ref(), number);
        let params = server_requests::signed(params, caller, self.who_asks.as_ref());
        let sent = Request::new(Id::number(number), &request.method, params);
        let (messages, mut received) = mpsc::channel(BUFFER);
        let lost = Arc::new(OnceLock::new());
        let call = Call {
            id: request.id.clone(),
            token,
            messages,
            sent: false,
            listens: request.method == method::LISTEN,
            lost: Arc::clone(&lost),
        };
        self.calls.lock().insert(number, call);
        let in_flight =
            InFlight { number, calls: Arc::clone(&self.calls), outgoing: self.outgoing.clone() };
        let at_work = caller.map(|caller| self.questions.working_for(number, caller));
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
                in_flight.forget();
                return Err(CallError::NotSent(gone(&why)));
            }
            Err(SendError::Unknown(detail)) => return Err(broke(detail)),
            Err(SendError::Busy) => {
                in_flight.forget();
                return Err(CallError::Busy { wait: BUSY_WAIT });
            }
            Err(SendError::AuthRequired(failure)) => {
                in_flight.forget();
                return Err(CallError::AuthRequired(failure));
            }
            Err(SendError::Unavailable(detail)) => {
                in_flight.forget();
                return Err(CallError::Unavailable { wait: BUSY_WAIT, detail });
            }
            Err(SendError::Refused(said)) => {
                in_flight.forget();
                let response = Response::error(Some(request.id.clone()), -32603, &said);
                return Ok(Reply::Whole(response));
            }
        }
        match received.recv().await {
            Some(Message::Response(response)) => {
                in_flight.forget();
                Ok(Reply::Whole(response))
            }
            Some(first) => {
                let stream = ReplyStream::starting_with(first, received);
                let stream = stream.keeping(in_flight).keeping(at_work);
                Ok(Reply::Stream(stream))
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
            Err(SendError::Busy) => Err(gone("it does not read")),
        }
    }

    /// From now on every request says who asks.
    pub(crate) fn speak_stateless(&mut self) {
        self.who_asks = Some(WhoAsks::gateway(crate::VERSION));
    }

    pub(crate) fn is_stateless(&self) -> bool {
        self.who_asks.is_some()
    }

    /// Whether nothing can be sent any more. The reason may still be on its way.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.is_cancelled() || self.outgoing.is_closed()
    }

    /// Asks an upstream without sessions for all that is wanted, and then gives up what it was asked
    /// for before.
    pub(crate) async fn listen(&self, wanted: &Wanted) {
        let request = Request::new(Id::number(0), method::LISTEN, Some(wanted.filter()));
        if let Ok(Ok(Reply::Stream(news))) = timeout(PATIENCE, self.call(&request, None)).await {
            let before = self.news.lock().replace(news);
            drop(before);
            wanted.carried.are(&wanted.resources);
        }
    }

    /// Ends the channel; the transport sees it and goes.
    pub(crate) fn close(&self) {
        self.closed.cancel();
    }

    async fn send(&self, text: Bytes) -> Result<(), SendError> {
        let (fate, sent) = Fate::channel();
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
        let (text, fate) = (cancelled.to_bytes(), Fate::of_no_interest());
        let _ = self.outgoing.try_send(Outgoing { text, fate });
    }
}

fn gone(why: &str) -> Failure {
    let what = format!("It cannot be spoken to: {why}.");
    Failure::new(Code::ConnectionLost, what, "Evermoor reconnects by itself.")
}

fn broke(detail: String) -> CallError {
    CallError::Unknown { why: Unknown::ConnectionReset, detail, connection_broke: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(number: u64) -> Request {
        Request::new(Id::number(number), "tools/call", Some(Raw::of(&serde_json::json!({}))))
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_nobody_wants_any_more_is_cancelled_and_that_is_sent() {
        let (duplex, _inbox, mut to_send, _incoming) = channel();
        let request = request(1);
        let mut call = Box::pin(duplex.call(&request, None));
        assert!(timeout(Duration::from_millis(1), &mut call).await.is_err());
        to_send.recv().await.unwrap().fate.send(Ok(()));
        assert!(timeout(Duration::from_millis(1), &mut call).await.is_err());
        drop(call);
        let cancelled = to_send.recv().await.unwrap();
        assert!(!cancelled.fate.is_closed());
        assert!(
            cancelled.text.starts_with(br#"{"jsonrpc":"2.0","method":"notifications/cancelled""#)
        );
    }

    #[tokio::test]
    async fn a_call_cancelled_while_it_waits_is_known_to_be_unwanted() {
        let (duplex, _inbox, mut to_send, _incoming) = channel();
        let request = request(1);
        let mut call = Box::pin(duplex.call(&request, None));
        assert!(timeout(Duration::from_millis(1), &mut call).await.is_err());
        drop(call);
        assert!(to_send.recv().await.unwrap().fate.is_closed());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_has_a_place_however_much_progress_waits() {
        let (duplex, inbox, mut to_send, _incoming) = channel();
        let params = Raw::of(&serde_json::json!({ "_meta": { "progressToken": "mine" } }));
        let request = Request::new(Id::number(9), "tools/call", Some(params));
        let mut call = Box::pin(duplex.call(&request, None));
        assert!(timeout(Duration::from_millis(1), &mut call).await.is_err());
        to_send.recv().await.unwrap().fate.send(Ok(()));
        assert!(timeout(Duration::from_millis(1), &mut call).await.is_err());
        let step = serde_json::json!({ "progressToken": 1, "progress": 1 });
        for _ in 0..2 * BUFFER {
            inbox.deliver(Notification::new("notifications/progress", Some(Raw::of(&step))).into());
        }
        inbox.deliver(Message::Response(Response::result(Id::number(1), Raw::of("done"))));
        let Ok(Reply::Stream(messages)) = call.await else { panic!("progress came first") };
        assert!(messages.answer().await.is_some(), "the answer was dropped");
    }

    #[tokio::test]
    async fn a_ping_is_answered() {
        let (_duplex, inbox, mut to_send, _incoming) = channel();
        inbox.deliver(Request::new(Id::number(7), "ping", None).into());
        let answer = to_send.recv().await.unwrap();
        assert!(!answer.fate.is_closed());
        assert_eq!(&answer.text[..], br#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    }

    #[tokio::test]
    async fn the_end_is_told_however_much_else_waits() {
        let (_duplex, inbox, _to_send, mut incoming) = channel();
        for _ in 0..1000 {
            inbox.deliver(Notification::new("notifications/message", None).into());
        }
        inbox.close(gone("first"));
        inbox.close(gone("second"));
        let mut ends = Vec::new();
        while let Ok(message) = incoming.try_recv() {
            if let Incoming::Closed(failure) = message {
                ends.push(failure);
            }
        }
        assert_eq!(ends, [gone("first")]);
    }
}
