//! The delivery of one call: from an editor's request to exactly one answer.
//!
//! # Theory of operation
//! While the upstream is down, a call is held until its deadline, on the monotonic or the wall
//! clock, whichever comes first: a call held by a laptop that goes to sleep is not sent the next
//! morning. A call that was not sent is retried until the hold ends. A call that may have been
//! executed is retried only if it is safe to repeat and the retry budget allows it; otherwise the
//! answer says that the outcome is unknown. A held call ends when its caller goes away.

pub(crate) mod in_flight;
pub(crate) mod list_fallback;
mod queue;
pub(crate) mod retry_budget;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use evermoor_core::failure::outcome::{self, Fate, NotSent, Undelivered, Unknown};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::retry::Class;
use evermoor_core::policy::timing::Deadline;
use evermoor_core::protocol::envelope::{Request, Response};

use super::transport::connection::{CallError, Reply, ReplyStream};
use super::{Caller, Command, Handle, Link, Ready};
use crate::history::{CallEnd, Count, Touched};
use crate::system::redaction;
use in_flight::CallGuard;
use queue::HoldSlot;

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
pub(super) async fn deliver(handle: &Handle, request: &Request, caller: Option<&Caller>) -> Reply {
    handle.budget.lock().deposit(Instant::now());
    let mut delivery = Delivery::new(handle, request, caller);
    loop {
        let ready = match delivery.connection().await {
            Ok(ready) => ready,
            Err(why) => return Reply::Whole(delivery.end(Fate::NotSent(why))),
        };
        if let Some(reply) = delivery.attempt(&ready).await {
            return reply;
        }
    }
}

/// A call that has no answer yet.
struct Delivery<'a> {
    handle: &'a Handle,
    request: &'a Request,
    caller: Option<&'a Caller>,
    class: Class,
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
    affected: Option<Touched>,
}

impl<'a> Delivery<'a> {
    fn new(handle: &'a Handle, request: &'a Request, caller: Option<&'a Caller>) -> Self {
        let began = Instant::now();
        let known = handle.state.borrow().known.clone();
        let traits = known.as_ref().map(|known| &known.traits);
        Self {
            handle,
            request,
            caller,
            class: handle.config.repetition.class(request, traits),
            began,
            deadline: Deadline::after(began.into_std(), handle.chance.now(), handle.hold()),
            attempts: 0,
            sessions_lost: 0,
            failed_generation: 0,
            unknown: None,
            detail: String::new(),
            retry_after: None,
            affected: None,
        }
    }

    /// A connection that has not failed this call yet. Waits for one until the hold ends.
    async fn connection(&mut self) -> Result<Arc<Ready>, NotSent> {
        let failed = self.failed_generation;
        let usable = |link: &Link| match link {
            Link::Ready(ready) if ready.generation > failed => Some(Arc::clone(ready)),
            Link::Ready(_) | Link::Connecting | Link::Down { .. } | Link::Paused { .. } => None,
        };
        let mut state = self.handle.state.clone();
        if let Some(ready) = usable(&state.borrow().link) {
            // A retried call may have waited before, even while the machine slept.
            let late = self.attempts > 0 && self.expired();
            return if late { Err(self.give_up()) } else { Ok(ready) };
        }
        if self.handle.is_paused() {
            return Err(NotSent::Paused);
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
            if self.handle.is_paused() {
                return Err(NotSent::Paused);
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

    fn expired(&self) -> bool {
        self.deadline.passed(Instant::now().into_std(), self.handle.chance.now())
    }

    /// Why the hold ended without a connection.
    fn give_up(&mut self) -> NotSent {
        let mut why = NotSent::HoldExpired;
        match &self.handle.state.borrow().link {
            Link::Down { failure, .. } => {
                if failure.code == Code::CrashLoop {
                    why = NotSent::CrashLooping;
                }
                self.detail = failure.what.trim_end_matches('.').to_owned()
            }
            Link::Connecting => self.detail = "it has not answered yet".to_owned(),
            Link::Ready(_) | Link::Paused { .. } => {}
        }
        self.retry_after = Some(RETRY_AFTER);
        // Only the wall clock passed the deadline, so the machine slept.
        if Instant::now().into_std() < self.deadline.steady { NotSent::Slept } else { why }
    }

    /// Waits until the connection has capacity for the call, at most until the hold ends. `None` if
    /// the connection was given up meanwhile.
    async fn begin(&mut self, ready: &Ready) -> Result<Option<CallGuard>, NotSent> {
        let deadline = Instant::from_std(self.deadline.steady);
        timeout_at(deadline, ready.begin_call()).await.map_err(|_| {
            self.retry_after = Some(RETRY_AFTER);
            NotSent::QueueFull
        })
    }

    /// Sends the call once. `None` if it should be retried.
    async fn attempt(&mut self, ready: &Arc<Ready>) -> Option<Reply> {
        let guard = match self.begin(ready).await {
            Ok(Some(guard)) => guard,
            Ok(None) => {
                self.failed_generation = ready.generation;
                return None;
            }
            Err(why) => return Some(Reply::Whole(self.answer(Fate::NotSent(why)))),
        };
        self.attempts += 1;
        let sent_at = self.handle.chance.now();
        self.caller.inspect(|caller| caller.mark_sent());
        let limit = Instant::now() + self.handle.config.call_timeout;
        let error = match self.send(ready, limit).await {
            Ok(reply) => {
                ready.record_activity();
                return Some(match reply {
                    Reply::Stream(messages) => {
                        let messages = self.bounded(messages, ready, limit, sent_at);
                        let count = Count::new(&self.handle.tallies, self.affected.take());
                        Reply::Stream(messages.counted(count).keeping(guard))
                    }
                    whole @ Reply::Whole(_) => {
                        self.affected.iter_mut().for_each(|call| call.end(CallEnd::Answered));
                        whole
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
                self.report(ready, failure).await;
                if self.sessions_lost < MAX_SESSIONS_LOST {
                    return None;
                }
                Fate::NotSent(NotSent::SessionRefused)
            }
            CallError::AuthRequired(failure) => {
                self.detail = failure.what;
                Fate::NotSent(NotSent::AuthRequired)
            }
            CallError::Unavailable { wait, .. } if self.class == Class::Once => {
                self.retry_after = Some(wait);
                Fate::Unavailable(sent_at)
            }
            CallError::Busy { wait } | CallError::Unavailable { wait, .. } => {
                let time_left = !self
                    .deadline
                    .passed((Instant::now() + wait).into_std(), self.handle.chance.now() + wait);
                if time_left && self.attempts < MAX_ATTEMPTS * 2 && self.may_retry() {
                    sleep(wait).await;
                    return None;
                }
                self.retry_after = Some(wait);
                Fate::NotSent(NotSent::Busy)
            }
            CallError::Unknown { why, detail, connection_broke } => {
                if connection_broke || why == Unknown::Stalled {
                    self.mark_affected();
                }
                if connection_broke {
                    self.failed_generation = ready.generation;
                    self.report(ready, broke(&detail)).await;
                }
                let again = self.class == Class::Repeatable
                    && self.attempts < MAX_ATTEMPTS
                    && !self.expired();
                self.unknown = Some((why, sent_at));
                if again && why != Unknown::ReplyTooLarge && self.may_retry() {
                    return None;
                }
                Fate::Unknown(why, sent_at)
            }
        };
        Some(Reply::Whole(self.end(fate)))
    }

    /// Sends the call and waits for its reply while the upstream is alive, at most until `limit`.
    async fn send(&self, ready: &Ready, limit: Instant) -> Result<Reply, CallError> {
        let unknown = |why, detail| CallError::Unknown { why, detail, connection_broke: false };
        tokio::select! {
            biased;
            reply = ready.connection.call(self.request, self.caller) => reply,
            () = ready.abandoned() => Err(unknown(Unknown::Stalled, STALLED.into())),
            () = sleep_until(limit) => Err(unknown(Unknown::Timeout, self.too_late())),
        }
    }

    /// Applies the same limits to a streamed reply.
    fn bounded(
        &mut self,
        messages: ReplyStream,
        ready: &Arc<Ready>,
        limit: Instant,
        sent_at: SystemTime,
    ) -> ReplyStream {
        let mut unknown = |why, detail: String| {
            self.detail = detail;
            self.answer(Fate::Unknown(why, sent_at))
        };
        let ended =
            unknown(Unknown::EofBeforeReply, "the reply stream ended before the reply".into());
        let stalled = unknown(Unknown::Stalled, STALLED.into());
        let detail = self.too_late();
        self.detail = detail;
        let late = self.answer(Fate::Unknown(Unknown::Timeout, sent_at));
        // Keeps the connection open while the stream is read.
        let ready = Arc::clone(ready);
        messages.or(ended).until(async move {
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
    fn mark_affected(&mut self) -> &mut Touched {
        let tallies = &self.handle.tallies;
        self.affected.get_or_insert_with(|| tallies.touch())
    }

    /// Ends the call without a reply from the upstream, and counts it.
    fn end(&mut self, fate: Fate) -> Response {
        let end = match self.overall(fate) {
            Fate::NotSent(_) => CallEnd::NotSent,
            Fate::Unknown(..) => CallEnd::Unknown,
            Fate::Unavailable(_) => CallEnd::Answered,
        };
        self.affected.iter_mut().for_each(|call| call.end(end));
        self.answer(fate)
    }

    /// A call that was sent in an earlier attempt is never reported as not sent.
    fn overall(&self, fate: Fate) -> Fate {
        match (fate, self.unknown) {
            (Fate::NotSent(_), Some((why, at))) => Fate::Unknown(why, at),
            (fate, _) => fate,
        }
    }

    fn answer(&self, fate: Fate) -> Response {
        let fate = self.overall(fate);
        let (subject, is_tool) =
            outcome::subject(&self.request.method, self.request.params.as_ref());
        let undelivered = Undelivered {
            subject: &subject,
            is_tool,
            upstream: self.handle.name().as_str(),
            title: &self.handle.config.title,
            fate,
            detail: &redaction::scrub(&self.detail),
            attempts: self.attempts,
            held: self.began.elapsed(),
            retry_after: self.retry_after,
        };
        undelivered.answer(self.request.id.clone())
    }

    /// Reports to the supervisor that a connection failed a call.
    async fn report(&self, ready: &Ready, failure: Failure) {
        let broken = Command::Broken { generation: ready.generation, failure };
        let _ = self.handle.commands.send(broken).await;
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
