//! Counts the calls in flight on one connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::Instant;

/// How many calls are in flight, and since when there have been none.
pub(crate) struct InFlightCalls {
    count: AtomicUsize,
    born: Instant,
    /// When the last one ended, in milliseconds since the connection was made.
    ended: AtomicU64,
    drained_notify: Notify,
}

/// A call in flight, until this is dropped.
pub(crate) struct CallGuard {
    calls: Arc<InFlightCalls>,
    _permit: OwnedSemaphorePermit,
}

impl InFlightCalls {
    pub(crate) fn new(born: Instant) -> Self {
        let (count, ended) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { count, born, ended, drained_notify: Notify::new() }
    }

    pub(crate) fn begin(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> CallGuard {
        self.count.fetch_add(1, Ordering::Relaxed);
        CallGuard { calls: Arc::clone(self), _permit: permit }
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// How long there have been no calls; `None` while there is one.
    pub(crate) fn none_for(&self) -> Option<Duration> {
        let ended = Duration::from_millis(self.ended.load(Ordering::Relaxed));
        (self.count() == 0).then(|| self.born.elapsed().saturating_sub(ended))
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
        let calls = &self.calls;
        let now = u64::try_from(calls.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        calls.ended.fetch_max(now, Ordering::Relaxed);
        if calls.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            calls.drained_notify.notify_waiters();
        }
    }
}
