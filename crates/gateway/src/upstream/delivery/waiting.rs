//! What a call waits for: a connection, and its turn on it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use evermoor_core::failure::Code;
use evermoor_core::failure::outcome::NotSent;

use super::Delivery;
use super::queue::Place;
use crate::upstream::delivery::in_flight::CallGuard;
use crate::upstream::{Caller, Link, Ready};

/// When a full queue or an upstream that did not come back are worth another call.
const COME_BACK: Duration = Duration::from_secs(5);
/// How often a held call looks at the wall clock.
const LOOK: Duration = Duration::from_secs(1);

/// A call that is held, until this is dropped.
struct Held<'a> {
    caller: Option<&'a Caller>,
    since: Instant,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.caller.inspect(|caller| caller.waited(self.since.elapsed()));
    }
}

impl Delivery<'_> {
    /// A connection that has not failed this call yet, waiting for one while the hold lasts.
    pub(super) async fn connection(&mut self) -> Result<Arc<Ready>, NotSent> {
        let spent = self.spent;
        let usable = |link: &Link| match link {
            Link::Ready(ready) if ready.generation > spent => Some(Arc::clone(ready)),
            Link::Ready(_) | Link::Connecting | Link::Down { .. } | Link::Paused { .. } => None,
        };
        let mut state = self.handle.state.clone();
        if let Some(ready) = usable(&state.borrow().link) {
            // One that was turned away before may have waited since, even through a night.
            let late = self.attempts > 0 && self.expired();
            return if late { Err(self.give_up()) } else { Ok(ready) };
        }
        if self.handle.is_paused() {
            return Err(NotSent::Paused);
        }
        self.touch();
        let Some(_place) = Place::take(self.handle, self.request) else {
            self.retry_after = Some(COME_BACK);
            return Err(NotSent::QueueFull);
        };
        self.touch().held();
        let _held = Held { caller: self.caller, since: Instant::now() };
        loop {
            if let Some(ready) = usable(&state.borrow_and_update().link) {
                // The machine may have slept since the last look: too late is too late.
                return if self.expired() { Err(self.give_up()) } else { Ok(ready) };
            }
            if self.handle.is_paused() {
                return Err(NotSent::Paused);
            }
            if self.expired() {
                return Err(self.give_up());
            }
            let next_look = (Instant::now() + LOOK).min(Instant::from_std(self.deadline.steady));
            if let Ok(Err(_)) = timeout_at(next_look, state.changed()).await {
                return Err(NotSent::ShuttingDown);
            }
        }
    }

    pub(super) fn expired(&self) -> bool {
        self.deadline.passed(Instant::now().into_std(), self.handle.chance.now())
    }

    /// What was seen last, for the answer.
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
        self.retry_after = Some(COME_BACK);
        // The wall clock alone says that it is too late: the steady one stood still.
        if Instant::now().into_std() < self.deadline.steady { NotSent::Slept } else { why }
    }

    /// Waits for the call's turn while the hold lasts. `None` if the connection went meanwhile.
    pub(super) async fn turn(&mut self, ready: &Ready) -> Result<Option<CallGuard>, NotSent> {
        let turn = timeout_at(Instant::from_std(self.deadline.steady), ready.begin_call()).await;
        turn.map_err(|_| {
            self.retry_after = Some(COME_BACK);
            NotSent::QueueFull
        })
    }
}
