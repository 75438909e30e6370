//! Passes on what arrives on a channel: to the call it belongs to, or to the supervisor.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use evermoor_core::failure::Failure;
use evermoor_core::failure::outcome::{Answer, Unknown};
use evermoor_core::protocol::envelope::{Message, Notification, Request, Response};
use evermoor_core::protocol::mcp::{meta, method};
use evermoor_core::protocol::progress;
use evermoor_core::protocol::stateless::{SUBSCRIPTIONS_ACKNOWLEDGED, without_subscription_id};

use super::super::connection::{ConnectionEvent, ReplyPart};
use super::{Outgoing, PendingCalls, SendReceipt};
use crate::system::budget::SharedCharge;
use crate::upstream::server_requests::ServerRequests;

/// The transport's side of a channel.
#[derive(Clone)]
pub(crate) struct Inbox {
    pub(super) calls: PendingCalls,
    pub(super) incoming: mpsc::Sender<ConnectionEvent>,
    /// A reserved slot for `Closed`, so that a full buffer cannot lose it.
    pub(super) closed_slot: Arc<Mutex<Option<mpsc::OwnedPermit<ConnectionEvent>>>>,
    pub(super) outgoing: mpsc::Sender<Outgoing>,
    pub(super) closed: CancellationToken,
    pub(super) requests: ServerRequests,
}

/// How often [`Inbox::idle`] checks the calls in flight.
const IDLE_CHECK: Duration = Duration::from_millis(20);

impl Inbox {
    /// Passes on a message that arrived, with what is charged for it.
    pub(crate) fn deliver(&self, message: Message, charge: Option<SharedCharge>) {
        match message {
            Message::Response(response) => self.answer(response, charge),
            Message::Notification(notification) if notification.method == method::PROGRESS => {
                self.progress(notification);
            }
            Message::Notification(notification)
                if notification.method == method::CANCELLED
                    && self.requests.cancel(&notification) => {}
            Message::Notification(notification)
                if notification.method == SUBSCRIPTIONS_ACKNOWLEDGED =>
            {
                self.acknowledge(notification);
            }
            Message::Notification(notification) => {
                self.requests.forward_log(&notification);
                let notification = without_subscription_id(notification);
                if self.incoming.try_send(ConnectionEvent::Notification(notification)).is_err() {
                    tracing::debug!("a notification was dropped: the buffer is full");
                }
            }
            Message::Request(request) => self.dispatch(request),
        }
    }

    /// Closes the channel: ends every call in flight and gives the supervisor the reason.
    pub(crate) fn close(&self, failure: Failure) {
        self.closed.cancel();
        self.calls.lock().clear();
        if let Some(slot) = self.closed_slot.lock().take() {
            slot.send(ConnectionEvent::Closed(failure));
        }
    }

    /// Ends call `number`, whose answer arrived but is unusable.
    pub(crate) fn lose(&self, number: u64, why: Unknown, detail: String) {
        if let Some(call) = self.calls.lock().remove(&number) {
            let _ = call.lost.set((why, detail));
        }
    }

    /// How many calls were sent and not answered yet.
    pub(crate) fn in_flight(&self) -> usize {
        self.calls.lock().values().filter(|call| call.sent && !call.is_subscription).count()
    }

    /// Resolves when no call waits for an answer.
    pub(crate) async fn idle(&self) {
        while self.calls.lock().values().any(|call| !call.is_subscription) {
            sleep(IDLE_CHECK).await;
        }
    }

    /// Resolves when the channel is closed, by either side.
    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    fn answer(&self, response: Response, charge: Option<SharedCharge>) {
        let number = response.id.as_ref().and_then(|id| id.raw().read::<u64>().ok());
        let call = number.and_then(|number| self.calls.lock().remove(&number));
        let Some(call) = call else {
            return tracing::debug!("dropped an answer to no call in flight");
        };
        match &call.answer_charge {
            Some(answer_charge) => answer_charge.arrived(charge),
            // The answer to the gateway itself is a list, which has a limit of its own.
            None => charge.iter().for_each(SharedCharge::release),
        }
        let response = Response { id: Some(call.id), outcome: response.outcome };
        let _ =
            call.parts.try_send(ReplyPart::Answer(Answer::from_upstream(response, call.version)));
    }

    /// Passes the acknowledgement of a subscription to its call.
    fn acknowledge(&self, notification: Notification) {
        let meta = notification.params.as_ref().and_then(|params| params.member("_meta"));
        let number = meta.and_then(|meta| meta.member(meta::SUBSCRIPTION)?.read::<u64>().ok());
        let calls = self.calls.lock();
        // Without an id it can only be for the newest.
        let call = match number {
            Some(number) => calls.get(&number),
            None => calls.values().rev().find(|call| call.is_subscription),
        };
        if let Some(call) = call {
            let _ = call.parts.try_send(ReplyPart::Notification(notification));
        }
    }

    fn progress(&self, notification: Notification) {
        let Some((number, params)) = progress::call_number(&notification) else { return };
        let calls = self.calls.lock();
        let Some((call, token)) =
            calls.get(&number).and_then(|call| Some((call, call.token.as_ref()?)))
        else {
            return;
        };
        let params = Some(params.with("progressToken", token));
        let progress = Notification { params, ..notification };
        // A reader that is this far behind loses progress; the last slot is for the answer.
        if call.parts.capacity() > 1 {
            let _ = call.parts.try_send(ReplyPart::Notification(progress));
        }
    }

    fn dispatch(&self, request: Request) {
        let outgoing = self.outgoing.clone();
        let send = move |response: Response| {
            let text = response.to_bytes();
            let _ = outgoing.try_send(Outgoing { text, receipt: SendReceipt::ignored() });
        };
        self.requests.dispatch(request, None, Box::new(send));
    }
}
