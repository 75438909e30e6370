//! The delivery of one call: from an editor's request to exactly one answer.
//!
//! # Theory of operation
//! While the upstream is down, a call is held until its deadline, on the monotonic or the wall
//! clock, whichever comes first: a call held by a laptop that goes to sleep is not sent the next
//! morning. A call that was not sent is retried until the hold ends. A call that may have been
//! executed is retried only if it is safe to repeat and the retry budget allows it; otherwise the
//! answer says that the outcome is unknown. A held call ends when its caller goes away.
//!
//! A call that needs the user to sign in is answered at once, unless its editor can open the page of the
//! sign-in. Such an editor has the hold to answer, and the user has the hold again to sign in.
//!
//! - [`hold_slots`]: limits the calls held for one upstream
//! - [`in_flight`]: counts the calls in flight on one connection
//! - [`list_fallback`]: answers a list from the cached catalog unless the upstream is quick
//! - [`owned_call`]: a call that may outlive the wait for its answer
//! - [`retry_budget`]: limits retries to a share of all calls
//! - [`sign_in_request`]: asks the editor to let the user sign in

mod hold_slots;
pub(crate) mod in_flight;
pub(crate) mod list_fallback;
mod owned_call;
pub(crate) mod retry_budget;
pub(crate) mod sign_in_request;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use evermoor_core::failure::outcome::{
    self, Answer, DeliveryStatus, NotSent, UndeliveredCall, Unknown,
};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::hold_deadline::Deadline;
use evermoor_core::policy::retry::RetryClass;
use evermoor_core::protocol::envelope::Request;

use super::transport::connection::{CallError, CallReply, ReplyStream};
use super::{Caller, LinkState, LiveConnection, UpstreamHandle};
use crate::history::{AffectedCall, CallEnd, ReplyTally};
use crate::system::budget::NoRoom;
use crate::system::redaction;
use crate::upstream::auth::ProtectedServer;
use hold_slots::HoldSlot;
use in_flight::CallGuard;
use owned_call::{OwnedCall, is_answered};
use sign_in_request::SignInRequest;

/// How often a repeatable call is sent.
const MAX_ATTEMPTS: u32 = 3;
/// How often a server may reject a call because it lost the session before the call fails.
const MAX_SESSIONS_LOST: u32 = 3;
/// The `retryAfter` of an answer if the queue is full or the upstream did not come back.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// How often a held call checks the wall clock.
const WALL_CLOCK_CHECK: Duration = Duration::from_secs(1);
const STALLED: &str = "it stopped answering";

/// Delivers a call and returns its one answer.
pub(super) async fn deliver(
    handle: &UpstreamHandle,
    request: &Request,
    caller: Option<&Caller>,
) -> CallReply {
    handle.budget.lock().deposit(Instant::now());
    let mut delivery = Delivery::new(handle, request, caller);
    loop {
        let ready = match delivery.connection().await {
            Ok(ready) => ready,
            Err(why) => return CallReply::Whole(delivery.end(DeliveryStatus::NotSent(why))),
        };
        if let Some(reply) = delivery.attempt(&ready).await {
            return reply;
        }
    }
}

/// A call that has no answer yet.
struct Delivery<'a> {
    handle: &'a UpstreamHandle,
    request: &'a Request,
    caller: Option<&'a Caller>,
    class: RetryClass,
    began: Instant,
    deadline: Deadline,
    attempts: u32,
    sessions_lost: u32,
    /// The generation of the connection that already failed this call.
    failed_generation: u64,
    /// Set if an earlier attempt was sent and its outcome is unknown.
    unknown: Option<(Unknown, SystemTime)>,
    /// A short description of the last failure.
    detail: String,
    retry_after: Option<Duration>,
    /// Set if an outage affects this call.
    affected: Option<AffectedCall>,
    /// Set once the editor was asked to let the user sign in.
    asked_for_sign_in: bool,
}

impl<'a> Delivery<'a> {
    fn new(handle: &'a UpstreamHandle, request: &'a Request, caller: Option<&'a Caller>) -> Self {
        let began = Instant::now();
        let known = handle.state.borrow().known.clone();
        let traits = known.as_ref().map(|known| &known.traits);
        Self {
            handle,
            request,
            caller,
            class: handle.config.retry_policy.class(request, traits),
            began,
            deadline: Deadline::after(began.into_std(), handle.clock.now(), handle.hold()),
            attempts: 0,
            sessions_lost: 0,
            failed_generation: 0,
            unknown: None,
            detail: String::new(),
            retry_after: None,
            affected: None,
            asked_for_sign_in: false,
        }
    }

    /// A connection that has not failed this call yet. Waits for one until the hold ends.
    async fn connection(&mut self) -> Result<Arc<LiveConnection>, NotSent> {
        let failed = self.failed_generation;
        let usable = |link: &LinkState| match link {
            LinkState::Ready(ready) if ready.generation > failed => Some(Arc::clone(ready)),
            LinkState::Ready(_)
            | LinkState::Connecting
            | LinkState::Down { .. }
            | LinkState::Paused { .. } => None,
        };
        let mut state = self.handle.state.clone();
        if let Some(ready) = usable(&state.borrow().link) {
            // A retried call may have waited before, even while the machine slept.
            let late = self.attempts > 0 && self.expired();
            return if late { Err(self.give_up()) } else { Ok(ready) };
        }
        let mut has_signed_in = false;
        if let Some(why) = self.needs_user_action() {
            if why == NotSent::AuthRequired {
                let Some(asked) = self.ask_for_sign_in().await else { return Err(why) };
                has_signed_in = self.signed_in(asked).await;
            }
            if !has_signed_in {
                return Err(why);
            }
        }
        self.mark_affected();
        let Some(_slot) = HoldSlot::acquire(self.handle, self.request) else {
            self.retry_after = Some(RETRY_AFTER);
            return Err(NotSent::QueueFull);
        };
        self.mark_affected().held();
        let _timer = HoldTimer { caller: self.caller, since: Instant::now() };
        loop {
            if let Some(ready) = usable(&state.borrow_and_update().link) {
                // The machine may have slept since the last check.
                return if self.expired() { Err(self.give_up()) } else { Ok(ready) };
            }
            if let Some(why) = self.needs_user_action() {
                if why != NotSent::AuthRequired {
                    return Err(why);
                }
                // Otherwise the upstream reconnects because of the sign-in.
                if !has_signed_in {
                    let Some(asked) = self.ask_for_sign_in().await else { return Err(why) };
                    has_signed_in = asked.signed_in(Instant::from_std(self.deadline.steady)).await;
                    if !has_signed_in {
                        return Err(why);
                    }
                }
            }
            if self.expired() {
                return Err(self.give_up());
            }
            let next_check =
                (Instant::now() + WALL_CLOCK_CHECK).min(Instant::from_std(self.deadline.steady));
            if let Ok(Err(_)) = timeout_at(next_check, state.changed()).await {
                return Err(NotSent::ShuttingDown);
            }
        }
    }

    /// Why waiting is pointless, if only the user can make the upstream available.
    fn needs_user_action(&mut self) -> Option<NotSent> {
        match &self.handle.state.borrow().link {
            LinkState::Paused { .. } => Some(NotSent::Paused),
            LinkState::Down { failure, .. } if failure.code == Code::AuthRequired => {
                self.detail.clone_from(&failure.what);
                Some(NotSent::AuthRequired)
            }
            LinkState::Ready(_) | LinkState::Connecting | LinkState::Down { .. } => None,
        }
    }

    /// Asks the editor to let the user sign in. From its consent on, the hold begins anew.
    async fn ask_for_sign_in(&mut self) -> Option<SignInRequest<'a>> {
        if std::mem::replace(&mut self.asked_for_sign_in, true) {
            return None;
        }
        let server = ProtectedServer::of(&self.handle.config);
        let asking = SignInRequest::begin(&self.handle.sign_ins, server, self.caller);
        let deadline = Instant::from_std(self.deadline.steady);
        let mut asked = timeout_at(deadline, asking).await.ok()??;
        asked.ask(deadline).await.then_some(())?;
        let (steady, wall) = (Instant::now().into_std(), self.handle.clock.now());
        self.deadline = Deadline::after(steady, wall, self.handle.hold());
        Some(asked)
    }

    /// Holds the call until the user has signed in, and returns whether that happened in time.
    async fn signed_in(&self, asked: SignInRequest<'_>) -> bool {
        let Some(_slot) = HoldSlot::acquire(self.handle, self.request) else { return false };
        let _timer = HoldTimer { caller: self.caller, since: Instant::now() };
        asked.signed_in(Instant::from_std(self.deadline.steady)).await
    }

    fn expired(&self) -> bool {
        self.deadline.passed(Instant::now().into_std(), self.handle.clock.now())
    }

    /// Why the hold ended without a connection.
    fn give_up(&mut self) -> NotSent {
        let mut why = NotSent::HoldExpired;
        match &self.handle.state.borrow().link {
            LinkState::Down { failure, .. } => {
                if failure.code == Code::CrashLoop {
                    why = NotSent::CrashLooping;
                }
                self.detail = failure.what.trim_end_matches('.').to_owned()
            }
            LinkState::Connecting => self.detail = "it has not answered yet".to_owned(),
            LinkState::Ready(_) | LinkState::Paused { .. } => {}
        }
        self.retry_after = Some(RETRY_AFTER);
        // Only the wall clock passed the deadline, so the machine slept.
        if Instant::now().into_std() < self.deadline.steady { NotSent::Slept } else { why }
    }

    /// Waits until the connection has capacity for the call, at most until the hold ends. `None` if
    /// the connection was given up meanwhile.
    async fn begin(&mut self, ready: &LiveConnection) -> Result<Option<CallGuard>, NotSent> {
        let deadline = Instant::from_std(self.deadline.steady);
        timeout_at(deadline, ready.begin_call()).await.map_err(|_| {
            self.retry_after = Some(RETRY_AFTER);
            NotSent::QueueFull
        })
    }

    /// Sends the call once. `None` if it should be retried.
    async fn attempt(&mut self, ready: &Arc<LiveConnection>) -> Option<CallReply> {
        let guard = match self.begin(ready).await {
            Ok(Some(guard)) => guard,
            Ok(None) => {
                self.failed_generation = ready.generation;
                return None;
            }
            Err(why) => return Some(CallReply::Whole(self.answer(DeliveryStatus::NotSent(why)))),
        };
        self.attempts += 1;
        let sent_at = self.handle.clock.now();
        self.caller.inspect(|caller| caller.mark_sent());
        let limit = Instant::now() + self.handle.config.call_timeout;
        let error = match self.send(ready, limit).await {
            Ok(reply) => {
                ready.record_activity();
                return Some(match reply {
                    CallReply::Stream(parts) => {
                        let parts = self.bounded(parts, ready, limit, sent_at);
                        let count =
                            ReplyTally::new(&self.handle.current_tally, self.affected.take());
                        let parts = parts.counted(count);
                        CallReply::Stream(parts.arriving_on(Arc::clone(ready), guard))
                    }
                    CallReply::Whole(answer) => {
                        let fate = DeliveryStatus::Unknown(Unknown::ReplyTooLarge, sent_at);
                        let handed_over = self.hand_over().await;
                        CallReply::Whole(match handed_over {
                            Ok(()) => {
                                let affected = self.affected.iter_mut();
                                affected.for_each(|call| call.end(CallEnd::Answered));
                                answer
                            }
                            Err(no_room) => {
                                self.detail = no_room.to_string();
                                self.end(fate)
                            }
                        })
                    }
                });
            }
            Err(error) => error,
        };
        self.detail = error.to_string();
        let fate = match error {
            CallError::NotSent(failure) => {
                self.detail = failure.what.trim_end_matches('.').to_owned();
                self.sessions_lost += u32::from(failure.code == Code::SessionLost);
                self.failed_generation = ready.generation;
                ready.report_broken(failure);
                if self.sessions_lost < MAX_SESSIONS_LOST {
                    return None;
                }
                DeliveryStatus::NotSent(NotSent::SessionRefused)
            }
            CallError::AuthRequired(failure) => {
                self.detail = failure.what;
                drop(guard);
                if let Some(asked) = self.ask_for_sign_in().await
                    && self.signed_in(asked).await
                {
                    // The upstream reconnects because of the sign-in.
                    self.failed_generation = ready.generation;
                    return None;
                }
                DeliveryStatus::NotSent(NotSent::AuthRequired)
            }
            CallError::Unavailable { wait, .. } if self.class == RetryClass::Once => {
                self.retry_after = Some(wait);
                DeliveryStatus::Unavailable(sent_at)
            }
            CallError::Busy { wait } | CallError::Unavailable { wait, .. } => {
                let time_left = !self
                    .deadline
                    .passed((Instant::now() + wait).into_std(), self.handle.clock.now() + wait);
                if time_left && self.attempts < MAX_ATTEMPTS * 2 && self.may_retry() {
                    sleep(wait).await;
                    return None;
                }
                self.retry_after = Some(wait);
                DeliveryStatus::NotSent(NotSent::Busy)
            }
            CallError::Unknown { why, detail, connection_broke } => {
                if connection_broke || why == Unknown::Stalled {
                    self.mark_affected();
                }
                if connection_broke {
                    self.failed_generation = ready.generation;
                    ready.report_broken(broke(&detail));
                }
                let again = self.class == RetryClass::Repeatable
                    && self.attempts < MAX_ATTEMPTS
                    && !self.expired();
                self.unknown = Some((why, sent_at));
                if again && why != Unknown::ReplyTooLarge && self.may_retry() {
                    return None;
                }
                DeliveryStatus::Unknown(why, sent_at)
            }
        };
        Some(CallReply::Whole(self.end(fate)))
    }

    /// Charges the editor for the answer.
    async fn hand_over(&self) -> Result<(), NoRoom> {
        match self.caller {
            Some(caller) => caller.answer_charge.hand_over().await,
            None => Ok(()),
        }
    }

    /// Sends the call and waits for its reply while the upstream is alive, at most until `limit`.
    async fn send(
        &self,
        ready: &Arc<LiveConnection>,
        limit: Instant,
    ) -> Result<CallReply, CallError> {
        let unknown = |why, detail| CallError::Unknown { why, detail, connection_broke: false };
        // The tools may have changed since the call arrived.
        let known = self.handle.state.borrow().known.clone();
        let call = OwnedCall { request: self.request.clone(), caller: self.caller.cloned(), known };
        let mut reply = call.send(Arc::clone(ready)).boxed();
        tokio::select! {
            biased;
            reply = &mut reply => reply,
            () = ready.abandoned() => {
                ready.keep_call(is_answered(reply).boxed());
                Err(unknown(Unknown::Stalled, STALLED.into()))
            }
            () = sleep_until(limit) => Err(unknown(Unknown::Timeout, self.too_late())),
        }
    }

    /// Applies the same limits to a streamed reply.
    fn bounded(
        &mut self,
        parts: ReplyStream,
        ready: &Arc<LiveConnection>,
        limit: Instant,
        sent_at: SystemTime,
    ) -> ReplyStream {
        let mut unknown = |why, detail: String| {
            self.detail = detail;
            self.answer(DeliveryStatus::Unknown(why, sent_at))
        };
        let ended =
            unknown(Unknown::EofBeforeReply, "the reply stream ended before the reply".into());
        let stalled = unknown(Unknown::Stalled, STALLED.into());
        let unread = "this editor has not read earlier answers".to_owned();
        let dropped = unknown(Unknown::ReplyTooLarge, unread);
        let detail = self.too_late();
        self.detail = detail;
        let late = self.answer(DeliveryStatus::Unknown(Unknown::Timeout, sent_at));
        // Keeps the connection open while the stream is read.
        let ready = Arc::clone(ready);
        let charge = self.caller.map(|caller| caller.answer_charge.clone()).unwrap_or_default();
        parts.or(ended).handing_over(charge, dropped).until(async move {
            tokio::select! {
                () = ready.abandoned() => (stalled, true),
                () = sleep_until(limit) => (late, false),
            }
        })
    }

    fn too_late(&self) -> String {
        format!("no reply within {} s", self.handle.config.call_timeout.as_secs())
    }

    fn may_retry(&self) -> bool {
        self.handle.budget.lock().withdraw(Instant::now())
    }

    /// Counts this call as affected by an outage.
    fn mark_affected(&mut self) -> &mut AffectedCall {
        let current_tally = &self.handle.current_tally;
        self.affected.get_or_insert_with(|| current_tally.affect())
    }

    /// Ends the call without a reply from the upstream, and counts it.
    fn end(&mut self, fate: DeliveryStatus) -> Answer {
        let end = match self.overall(fate) {
            DeliveryStatus::NotSent(_) => CallEnd::NotSent,
            DeliveryStatus::Unknown(..) => CallEnd::Unknown,
            DeliveryStatus::Unavailable(_) => CallEnd::Answered,
        };
        self.affected.iter_mut().for_each(|call| call.end(end));
        self.answer(fate)
    }

    /// A call that was sent in an earlier attempt is never reported as not sent.
    fn overall(&self, fate: DeliveryStatus) -> DeliveryStatus {
        match (fate, self.unknown) {
            (DeliveryStatus::NotSent(_), Some((why, at))) => DeliveryStatus::Unknown(why, at),
            (fate, _) => fate,
        }
    }

    fn answer(&self, fate: DeliveryStatus) -> Answer {
        let fate = self.overall(fate);
        let (subject, is_tool) =
            outcome::subject(&self.request.method, self.request.params.as_ref());
        let undelivered = UndeliveredCall {
            subject: &subject,
            is_tool,
            upstream: self.handle.name().as_str(),
            title: &self.handle.config.title,
            fate,
            detail: &redaction::excerpt(self.detail.as_bytes(), 500),
            attempts: self.attempts,
            held: self.began.elapsed(),
            retry_after: self.retry_after,
        };
        Answer::undelivered(&undelivered, self.request.id.clone())
    }
}

/// Measures how long a call is held, until it is dropped.
struct HoldTimer<'a> {
    caller: Option<&'a Caller>,
    since: Instant,
}

impl Drop for HoldTimer<'_> {
    fn drop(&mut self) {
        self.caller.inspect(|caller| caller.add_held(self.since.elapsed()));
    }
}

fn broke(detail: &str) -> Failure {
    let what = format!("The connection broke during a call ({detail}).");
    Failure::new(Code::ConnectionLost, what, "Evermoor reconnects automatically.")
}
