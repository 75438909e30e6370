//! The delivery of one call: from an editor's request to exactly one answer.
//!
//! # Theory of operation
//! A call waits while its upstream is down, up to the hold, on whichever clock is first: a call
//! that lay in a sleeping laptop is not made in the morning. A call that never left is tried again
//! for as long as the hold lasts. A call that may have run is tried again only if repeating it can
//! do no harm and the budget allows it; otherwise the answer says that nobody knows. A caller that
//! goes away while its call is held takes the call with it.

mod ending;
pub(crate) mod in_flight;
pub(crate) mod list_fallback;
mod queue;
pub(crate) mod retry_budget;
#[cfg(test)]
mod tests;
mod waiting;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::{Instant, sleep, sleep_until};

use evermoor_core::failure::outcome::{Fate, NotSent, Unknown};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::retry::Class;
use evermoor_core::policy::timing::Deadline;
use evermoor_core::protocol::envelope::Request;

use super::transport::connection::{CallError, Reply, ReplyStream};
use super::{Caller, Command, Handle, Ready};
use crate::history::{CallEnd, Count, Touched};

/// How often a call that may be repeated is sent before nobody believes in it any more.
const MOST_ATTEMPTS: u32 = 3;
/// How often a server may say that it has forgotten us before it is taken at its word.
const MOST_TURNED_AWAY: u32 = 3;
const STOPPED: &str = "it stopped answering";

impl Handle {
    /// Delivers a call and returns its one answer.
    pub async fn call(&self, request: &Request, caller: Option<&Caller>) -> Reply {
        self.budget.lock().earn(Instant::now());
        let mut delivery = Delivery::new(self, request, caller);
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

    /// How long a call may wait, as the configuration says now.
    fn hold(&self) -> Duration {
        self.settings.borrow().hold
    }
}

/// A call on its way.
struct Delivery<'a> {
    handle: &'a Handle,
    request: &'a Request,
    caller: Option<&'a Caller>,
    class: Class,
    began: Instant,
    deadline: Deadline,
    attempts: u32,
    turned_away: u32,
    /// The connection that already failed this call.
    spent: u64,
    /// It was sent before, and nobody knows what became of it.
    lost: Option<(Unknown, SystemTime)>,
    /// What was last seen, in a few words.
    detail: String,
    retry_after: Option<Duration>,
    /// Whether an outage touched it.
    touched: Option<Touched>,
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
            turned_away: 0,
            spent: 0,
            lost: None,
            detail: String::new(),
            retry_after: None,
            touched: None,
        }
    }

    /// Sends the call once. `None` if it is to be tried again.
    async fn attempt(&mut self, ready: &Arc<Ready>) -> Option<Reply> {
        let guard = match self.turn(ready).await {
            Ok(Some(guard)) => guard,
            Ok(None) => {
                self.spent = ready.generation;
                return None;
            }
            Err(why) => return Some(Reply::Whole(self.answer(Fate::NotSent(why)))),
        };
        self.attempts += 1;
        let sent_at = self.handle.chance.now();
        self.caller.inspect(|caller| caller.is_being_sent());
        let limit = Instant::now() + self.handle.config.call_timeout;
        let error = match self.send(ready, limit).await {
            Ok(reply) => {
                ready.heard_now();
                return Some(match reply {
                    Reply::Stream(messages) => {
                        let messages = self.bounded(messages, ready, limit, sent_at);
                        let count = Count::new(&self.handle.tallies, self.touched.take());
                        Reply::Stream(messages.counted(count).keeping(guard))
                    }
                    whole @ Reply::Whole(_) => {
                        self.touched.iter_mut().for_each(|call| call.end(CallEnd::Answered));
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
                self.turned_away += u32::from(failure.code == Code::SessionLost);
                self.spent = ready.generation;
                self.report(ready, failure).await;
                if self.turned_away < MOST_TURNED_AWAY {
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
                if time_left && self.attempts < MOST_ATTEMPTS * 2 && self.may_pay() {
                    sleep(wait).await;
                    return None;
                }
                self.retry_after = Some(wait);
                Fate::NotSent(NotSent::Busy)
            }
            CallError::Unknown { why, detail, connection_broke } => {
                if connection_broke || why == Unknown::Stalled {
                    self.touch();
                }
                if connection_broke {
                    self.spent = ready.generation;
                    self.report(ready, broke(&detail)).await;
                }
                let again = self.class == Class::Repeatable
                    && self.attempts < MOST_ATTEMPTS
                    && !self.expired();
                self.lost = Some((why, sent_at));
                if again && why != Unknown::ReplyTooLarge && self.may_pay() {
                    return None;
                }
                Fate::Unknown(why, sent_at)
            }
        };
        Some(Reply::Whole(self.end(fate)))
    }

    /// Sends the call and waits for its reply: as long as the upstream lives, up to its limit.
    async fn send(&self, ready: &Ready, limit: Instant) -> Result<Reply, CallError> {
        let unknown = |why, detail| CallError::Unknown { why, detail, connection_broke: false };
        tokio::select! {
            biased;
            reply = ready.connection.call(self.request, self.caller) => reply,
            () = ready.abandoned() => Err(unknown(Unknown::Stalled, STOPPED.into())),
            () = sleep_until(limit) => Err(unknown(Unknown::Timeout, self.too_late())),
        }
    }

    /// A stream of messages about the call, which is waited for as long as any other reply.
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
        let stalled = unknown(Unknown::Stalled, STOPPED.into());
        let detail = self.too_late();
        self.detail = detail;
        let late = self.answer(Fate::Unknown(Unknown::Timeout, sent_at));
        // The connection stays for as long as somebody reads what comes over it.
        let ready = Arc::clone(ready);
        messages.or(ended).unless(async move {
            tokio::select! {
                () = ready.abandoned() => (stalled, true),
                () = sleep_until(limit) => (late, false),
            }
        })
    }

    fn too_late(&self) -> String {
        format!("no reply within {} s", self.handle.config.call_timeout.as_secs())
    }

    fn may_pay(&self) -> bool {
        self.handle.budget.lock().pay(Instant::now())
    }

    /// Tells the supervisor that a connection failed a call.
    async fn report(&self, ready: &Ready, failure: Failure) {
        let broken = Command::Broken { generation: ready.generation, failure };
        let _ = self.handle.commands.send(broken).await;
    }
}

fn broke(detail: &str) -> Failure {
    let what = format!("The connection broke during a call ({detail}).");
    Failure::new(Code::ConnectionLost, what, "Evermoor reconnects by itself.")
}
