//! The calls that an upstream works on over one connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::Instant;

/// How many there are, and since when there are none.
pub(crate) struct UnderWay {
    count: AtomicUsize,
    born: Instant,
    /// When the last one ended, in milliseconds since the connection was made.
    ended: AtomicU64,
    none_left: Notify,
}

/// A call that an upstream works on, until this is dropped.
pub(crate) struct CallGuard {
    calls: Arc<UnderWay>,
    _turn: OwnedSemaphorePermit,
}

impl UnderWay {
    pub(crate) fn new(born: Instant) -> Self {
        let (count, ended) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { count, born, ended, none_left: Notify::new() }
    }

    pub(crate) fn begin(self: &Arc<Self>, turn: OwnedSemaphorePermit) -> CallGuard {
        self.count.fetch_add(1, Ordering::Relaxed);
        CallGuard { calls: Arc::clone(self), _turn: turn }
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// For how long there have been none; `None` while there is one.
    pub(crate) fn none_for(&self) -> Option<Duration> {
        let ended = Duration::from_millis(self.ended.load(Ordering::Relaxed));
        (self.count() == 0).then(|| self.born.elapsed().saturating_sub(ended))
    }

    /// Waits until there are none.
    pub(crate) async fn drained(&self) {
        loop {
            let none_left = self.none_left.notified();
            if self.count() == 0 {
                return;
            }
            none_left.await;
        }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let calls = &self.calls;
        let now = u64::try_from(calls.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        calls.ended.fetch_max(now, Ordering::Relaxed);
        if calls.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            calls.none_left.notify_waiters();
        }
    }
}
