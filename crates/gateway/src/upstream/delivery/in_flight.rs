//! The calls in flight on one connection.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::Instant;

/// The calls in flight, and since when there have been none.
pub(crate) struct InFlightCalls {
    calls: Mutex<CallTable>,
    born: Instant,
    drained_notify: Notify,
}

#[derive(Default)]
struct CallTable {
    /// When each call began, by its number.
    began: BTreeMap<u64, Instant>,
    /// The number of the next call.
    next: u64,
    /// When the last call ended.
    ended: Option<Instant>,
}

/// A call in flight, until this is dropped.
pub(crate) struct CallGuard {
    calls: Arc<InFlightCalls>,
    number: u64,
    _permit: OwnedSemaphorePermit,
}

/// A moment, to tell the calls that began before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallMark(u64);

impl InFlightCalls {
    pub(crate) fn new(born: Instant) -> Self {
        Self { calls: Mutex::default(), born, drained_notify: Notify::new() }
    }

    pub(crate) fn begin(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> CallGuard {
        let mut calls = self.calls.lock();
        let number = calls.next;
        calls.next += 1;
        calls.began.insert(number, Instant::now());
        CallGuard { calls: Arc::clone(self), number, _permit: permit }
    }

    pub(crate) fn count(&self) -> usize {
        self.calls.lock().began.len()
    }

    /// How long the oldest call has been in flight; `None` while there is none.
    pub(crate) fn oldest(&self) -> Option<Duration> {
        self.calls.lock().began.first_key_value().map(|(_, began)| began.elapsed())
    }

    pub(crate) fn mark(&self) -> CallMark {
        CallMark(self.calls.lock().next)
    }

    /// Whether a call that began before `mark` is in flight.
    pub(crate) fn any_before(&self, mark: CallMark) -> bool {
        self.calls.lock().began.first_key_value().is_some_and(|(oldest, _)| *oldest < mark.0)
    }

    /// How long there have been no calls; `None` while there is one.
    pub(crate) fn none_for(&self) -> Option<Duration> {
        let calls = self.calls.lock();
        calls.began.is_empty().then(|| calls.ended.unwrap_or(self.born).elapsed())
    }

    /// Waits until no call is in flight.
    pub(crate) async fn drained(&self) {
        loop {
            let drained_notify = self.drained_notify.notified();
            if self.count() == 0 {
                return;
            }
            drained_notify.await;
        }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let drained = {
            let mut calls = self.calls.calls.lock();
            calls.began.remove(&self.number);
            calls.ended = Some(Instant::now());
            calls.began.is_empty()
        };
        if drained {
            self.calls.drained_notify.notify_waiters();
        }
    }
}
