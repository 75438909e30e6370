//! Where everything goes that arrives on a channel: to the call it belongs to, or to the supervisor.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use evermoor_core::failure::Failure;
use evermoor_core::failure::outcome::Unknown;
use evermoor_core::protocol::envelope::{Message, Notification, Request, Response};
use evermoor_core::protocol::mcp::{meta, method};
use evermoor_core::protocol::progress;
use evermoor_core::protocol::stateless::{ACKNOWLEDGED, unsubscribed};

use super::super::connection::Incoming;
use super::{Calls, Fate, Outgoing};
use crate::upstream::server_requests::Questions;

/// Where everything that arrives goes.
#[derive(Clone)]
pub(crate) struct Inbox {
    pub(super) calls: Calls,
    pub(super) incoming: mpsc::Sender<Incoming>,
    /// The place kept for saying that the channel has ended, however much else waits.
    pub(super) last_word: Arc<Mutex<Option<mpsc::OwnedPermit<Incoming>>>>,
    pub(super) outgoing: mpsc::Sender<Outgoing>,
    pub(super) closed: CancellationToken,
    pub(super) questions: Questions,
}

/// How often a channel that is to end is looked at.
const LOOK: Duration = Duration::from_millis(20);

impl Inbox {
    /// Hands on what arrived.
    pub(crate) fn deliver(&self, message: Message) {
        match message {
            Message::Response(response) => self.answer(response),
            Message::Notification(notification) if notification.method == method::PROGRESS => {
                self.progress(notification);
            }
            Message::Notification(notification)
                if notification.method == method::CANCELLED
                    && self.questions.withdraw(&notification) => {}
            Message::Notification(notification) if notification.method == ACKNOWLEDGED => {
                self.acknowledge(notification);
            }
            Message::Notification(notification) => {
                self.questions.overhear(&notification);
                let notification = unsubscribed(notification);
                if self.incoming.try_send(Incoming::Notification(notification)).is_err() {
                    tracing::debug!("a notification was dropped: too many wait");
                }
            }
            Message::Request(request) => self.ask(request),
        }
    }

    /// The channel has ended: every call in flight and the supervisor learn why.
    pub(crate) fn close(&self, failure: Failure) {
        self.closed.cancel();
        self.calls.lock().clear();
        if let Some(place) = self.last_word.lock().take() {
            place.send(Incoming::Closed(failure));
        }
    }

    /// The answer to call `number` came and is of no use.
    pub(crate) fn spoilt(&self, number: u64, why: Unknown, detail: String) {
        if let Some(call) = self.calls.lock().remove(&number) {
            let _ = call.lost.set((why, detail));
        }
    }

    /// How many calls the upstream has and has not answered.
    pub(crate) fn at_work(&self) -> usize {
        self.calls.lock().values().filter(|call| call.sent && !call.listens).count()
    }

    /// Resolves when no call waits for its answer.
    pub(crate) async fn idle(&self) {
        while self.calls.lock().values().any(|call| !call.listens) {
            sleep(LOOK).await;
        }
    }

    /// Resolves when nobody uses the channel any more.
    pub(crate) async fn closed(&self) {
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

    /// The upstream tells from now on what a call of ours asked it to.
    fn acknowledge(&self, notification: Notification) {
        let said = notification.params.as_ref().and_then(|params| params.member("_meta"));
        let number = said.and_then(|said| said.member(meta::SUBSCRIPTION)?.read::<u64>().ok());
        let calls = self.calls.lock();
        // One that does not say which can only be the last.
        let call = match number {
            Some(number) => calls.get(&number),
            None => calls.values().rev().find(|call| call.listens),
        };
        if let Some(call) = call {
            let _ = call.messages.try_send(Message::Notification(notification));
        }
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
        // A reader that is this far behind can do without one step; the last place is the answer's.
        if call.messages.capacity() > 1 {
            let _ = call.messages.try_send(Message::Notification(progress));
        }
    }

    fn ask(&self, request: Request) {
        let outgoing = self.outgoing.clone();
        let send = move |response: Response| {
            let text = response.to_bytes();
            let _ = outgoing.try_send(Outgoing { text, fate: Fate::of_no_interest() });
        };
        self.questions.ask(request, None, Box::new(send));
    }
}
