//! The lease that lets one gateway at a time write the files that outlive it.
//!
//! Catalogs, subscriptions, sign-ins and the history are stored. When another gateway takes over, it gets
//! the lease: this gateway finishes the write in progress and writes no more.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard, OwnedRwLockReadGuard, RwLock, watch};
use tokio::time::timeout;

/// The lease of this gateway, which it may or may not hold.
#[derive(Clone)]
pub struct WriteLease(Arc<WriteLeaseState>);

struct WriteLeaseState {
    held: watch::Sender<bool>,
    writing: Arc<Mutex<()>>,
    /// Held for reading during a write that depends on another computer.
    long_writes: Arc<RwLock<()>>,
}

/// A write in progress: the lease is not released until this is dropped.
pub struct WriteGuard {
    _guard: OwnedMutexGuard<()>,
}

/// A long write in progress.
pub struct LongWriteGuard {
    _guard: OwnedRwLockReadGuard<()>,
}

/// How long a gateway that is taken over waits for a long write. Its successor waits five seconds.
const LONG_WRITE_PATIENCE: Duration = Duration::from_secs(3);

impl WriteLease {
    /// `held` is `false` while another gateway still has the lease.
    pub fn new(held: bool) -> Self {
        Self(Arc::new(WriteLeaseState {
            held: watch::Sender::new(held),
            writing: Arc::default(),
            long_writes: Arc::default(),
        }))
    }

    pub fn is_held(&self) -> bool {
        *self.0.held.borrow()
    }

    /// Begins a write, if this gateway holds the lease.
    pub async fn take(&self) -> Option<WriteGuard> {
        let guard = Arc::clone(&self.0.writing).lock_owned().await;
        self.0.held.borrow().then_some(WriteGuard { _guard: guard })
    }

    /// Like [`WriteLease::take`], for threads that may block.
    pub fn take_blocking(&self) -> Option<WriteGuard> {
        let guard = Arc::clone(&self.0.writing).blocking_lock_owned();
        self.0.held.borrow().then_some(WriteGuard { _guard: guard })
    }

    /// Like [`WriteLease::take`], for a write that depends on another computer. It keeps no other write
    /// waiting, and it may keep this gateway from giving up the lease.
    pub async fn take_long(&self) -> Option<LongWriteGuard> {
        let guard = Arc::clone(&self.0.long_writes).read_owned().await;
        self.0.held.borrow().then_some(LongWriteGuard { _guard: guard })
    }

    /// Waits for the writes in progress, then gives the lease up. Returns whether it did: a long write
    /// may not end in time.
    pub async fn release(&self) -> bool {
        let Ok(_none) = timeout(LONG_WRITE_PATIENCE, self.0.long_writes.write()).await else {
            return false;
        };
        let _guard = self.0.writing.lock().await;
        self.0.held.send_replace(false);
        true
    }

    /// Makes this gateway the holder.
    pub fn grant(&self) {
        self.0.held.send_replace(true);
    }

    /// Waits until this gateway holds the lease.
    pub async fn until_held(&self) {
        // This cannot fail: `self` owns the sender.
        let _ = self.0.held.subscribe().wait_for(|held| *held).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn a_lease_is_released_after_the_write_in_progress_and_then_nobody_writes() {
        let lease = WriteLease::new(true);
        let writing = lease.take().await;
        assert!(writing.is_some());
        assert!(lease.release().now_or_never().is_none(), "a write is in progress");
        drop(writing);
        assert!(lease.release().await);
        assert!(lease.take().await.is_none());
        assert!(lease.until_held().now_or_never().is_none());
        lease.grant();
        lease.until_held().await;
        assert!(lease.take().await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_write_delays_no_other_write_and_keeps_the_lease() {
        let lease = WriteLease::new(true);
        let long = lease.take_long().await;
        assert!(long.is_some());
        assert!(lease.take().now_or_never().flatten().is_some());
        assert!(lease.take_long().now_or_never().flatten().is_some());
        assert!(!lease.release().await, "the long write does not end");
        assert!(lease.is_held());
        drop(long);
        assert!(lease.release().await);
        assert!(lease.take_long().await.is_none());
    }
}
