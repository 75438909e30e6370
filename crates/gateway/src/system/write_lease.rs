//! The lease that lets one gateway at a time write the files that outlive it.
//!
//! Catalogs, subscriptions and the history are in files. When another gateway takes over, it gets
//! the lease: this gateway finishes the write in progress and writes no more.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard, watch};

/// The lease of this gateway, which it may or may not hold.
#[derive(Clone)]
pub struct WriteLease(Arc<Inner>);

struct Inner {
    held: watch::Sender<bool>,
    writing: Arc<Mutex<()>>,
}

/// A write in progress: the lease is not released until this is dropped.
pub struct WriteGuard {
    _guard: OwnedMutexGuard<()>,
}

impl WriteLease {
    /// `held` is `false` while another gateway still has the lease.
    pub fn new(held: bool) -> Self {
        Self(Arc::new(Inner { held: watch::Sender::new(held), writing: Arc::default() }))
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

    /// Waits for the write in progress, then gives the lease up.
    pub async fn release(&self) {
        let _guard = self.0.writing.lock().await;
        self.0.held.send_replace(false);
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
        lease.release().await;
        assert!(lease.take().await.is_none());
        assert!(lease.until_held().now_or_never().is_none());
        lease.grant();
        lease.until_held().await;
        assert!(lease.take().await.is_some());
    }
}
