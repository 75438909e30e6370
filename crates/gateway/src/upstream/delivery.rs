//! The delivery of one call: from an editor's request to exactly one answer.
//!
//! A call waits while its upstream is down, up to the hold. A call that never left is tried again
//! for as long as the hold lasts. A call that may have run is tried again only if repeating it
//! can do no harm; otherwise the answer says that nobody knows. `docs/adr/0002-raw-core.md` and
//! `evermoor_core::outcome` have the contract.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::{Instant, timeout_at};

use evermoor_core::call::Class;
use evermoor_core::envelope::{Request, Response};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::outcome::{self, Fate, NotSent, Undelivered, Unknown};

use super::connection::{CallError, Reply};
use super::{Command, Handle, Link, Ready};

/// How often a call that may be repeated is sent before nobody believes in it any more.
const MOST_ATTEMPTS: u32 = 3;
/// How many calls may wait for one upstream.
const MOST_HELD: usize = 1024;

impl Handle {
    /// Delivers a call and returns its one answer.
    pub async fn call(&self, request: &Request) -> Reply {
        let began = Instant::now();
        let mut attempt = Attempt { number: 0, detail: String::new(), spent: 0 };
        loop {
            let ready = match self.ready(began + self.hold(), attempt.spent).await {
                Ok(ready) => ready,
                Err(Held { why, detail }) => {
                    let detail = if detail.is_empty() { &attempt.detail } else { &detail };
                    let fate = Fate::NotSent(why);
                    return Reply::Whole(self.undelivered(request, fate, detail, &attempt, began));
                }
            };
            attempt.number += 1;
            attempt.spent = ready.generation;
            let sent_at = SystemTime::now();
            let sent =
                tokio::time::timeout(self.config.call_timeout, ready.connection.call(request));
            let error = match sent.await {
                Ok(Ok(Reply::Stream(messages))) => {
                    let fate = Fate::Unknown(Unknown::EofBeforeReply, sent_at);
                    let detail = "the reply stream ended before the reply";
                    let otherwise = self.undelivered(request, fate, detail, &attempt, began);
                    return Reply::Stream(messages.or(otherwise));
                }
                Ok(Ok(reply @ Reply::Whole(_))) => return reply,
                Ok(Err(error)) => error,
                Err(_) => CallError::Unknown {
                    why: Unknown::Timeout,
                    detail: format!("no reply within {:?}", self.config.call_timeout),
                    connection_broke: false,
                },
            };
            attempt.detail = error.to_string();
            let fate = match error {
                CallError::NotSent(failure) => {
                    self.report(&ready, failure).await;
                    continue;
                }
                CallError::AuthRequired(_) => Fate::NotSent(NotSent::AuthRequired),
                CallError::Unknown { why, detail, connection_broke } => {
                    if connection_broke {
                        self.report(&ready, broke(&detail)).await;
                    }
                    let again = Class::of(&request.method) == Class::Repeatable;
                    if again && attempt.number < MOST_ATTEMPTS {
                        attempt.spent = if connection_broke { ready.generation } else { 0 };
                        continue;
                    }
                    Fate::Unknown(why, sent_at)
                }
            };
            let detail = attempt.detail.clone();
            return Reply::Whole(self.undelivered(request, fate, &detail, &attempt, began));
        }
    }

    /// How long a call may wait, as the configuration says now.
    fn hold(&self) -> Duration {
        self.settings.borrow().hold
    }

    /// A connection younger than `spent`, waiting for one until `deadline`.
    async fn ready(&self, deadline: Instant, spent: u64) -> Result<Arc<Ready>, Held> {
        let usable = |link: &Link| match link {
            Link::Ready(ready) if ready.generation > spent => Some(Arc::clone(ready)),
            Link::Ready(_) | Link::Connecting | Link::Down { .. } => None,
        };
        if let Some(ready) = usable(&self.state.borrow().link) {
            return Ok(ready);
        }
        let Some(_place) = Place::take(self) else {
            return Err(Held { why: NotSent::QueueFull, detail: String::new() });
        };
        let mut state = self.state.clone();
        let wait = state.wait_for(|state| usable(&state.link).is_some());
        match timeout_at(deadline, wait).await {
            Ok(Ok(state)) => usable(&state.link).ok_or_else(|| self.expired()),
            Ok(Err(_)) => Err(Held { why: NotSent::ShuttingDown, detail: String::new() }),
            Err(_) => Err(self.expired()),
        }
    }

    fn expired(&self) -> Held {
        let detail = match &self.state.borrow().link {
            Link::Down { failure, .. } => failure.what.trim_end_matches('.').to_owned(),
            Link::Connecting => "it has not answered yet".to_owned(),
            Link::Ready(_) => String::new(),
        };
        Held { why: NotSent::HoldExpired, detail }
    }

    /// Tells the supervisor that a connection failed a call.
    async fn report(&self, ready: &Ready, failure: Failure) {
        let _ = self.commands.send(Command::Broken { generation: ready.generation, failure }).await;
    }

    fn undelivered(
        &self,
        request: &Request,
        fate: Fate,
        detail: &str,
        attempt: &Attempt,
        began: Instant,
    ) -> Response {
        let (subject, is_tool) = outcome::subject(&request.method, request.params.as_ref());
        let undelivered = Undelivered {
            subject: &subject,
            is_tool,
            upstream: self.name().as_str(),
            title: &self.config.title,
            fate,
            detail,
            attempts: attempt.number,
            held: began.elapsed(),
        };
        undelivered.answer(request.id.clone())
    }
}

/// How far the attempts to send have come.
struct Attempt {
    number: u32,
    detail: String,
    /// The connection that already failed this call.
    spent: u64,
}

/// Why a call was held in vain.
struct Held {
    why: NotSent,
    detail: String,
}

/// A place among the calls that wait; given back when dropped.
struct Place<'a>(&'a Handle);

impl<'a> Place<'a> {
    fn take(handle: &'a Handle) -> Option<Self> {
        let free = handle.held.send_if_modified(|held| {
            let free = *held < MOST_HELD;
            *held += usize::from(free);
            free
        });
        free.then_some(Self(handle))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.held.send_modify(|held| *held -= 1);
    }
}

fn broke(detail: &str) -> Failure {
    let what = format!("The connection broke during a call ({detail}).");
    Failure::new(Code::ConnectionLost, what, "Evermoor reconnects by itself.")
}
