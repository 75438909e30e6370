//! The lease that lets one gateway at a time write the files that outlive it.
//!
//! Catalogs, subscriptions and the history are in files. When another gateway takes over, it gets
//! the lease: this gateway finishes the write in progress and writes no more.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard, watch};

/// The lease of this gateway, which it may or may not hold.
#[derive(Clone)]
pub struct Pen(Arc<Inner>);

struct Inner {
    held: watch::Sender<bool>,
    writing: Arc<Mutex<()>>,
}

/// A write in progress: the lease is not released until this is dropped.
pub struct Writing {
    _guard: OwnedMutexGuard<()>,
}

impl Pen {
    /// `held` is `false` while another gateway still has the lease.
    pub fn new(held: bool) -> Self {
        Self(Arc::new(Inner { held: watch::Sender::new(held), writing: Arc::default() }))
    }

    pub fn is_held(&self) -> bool {
        *self.0.held.borrow()
    }

    /// Begins a write, if this gateway holds the lease.
    pub async fn take(&self) -> Option<Writing> {
        let guard = Arc::clone(&self.0.writing).lock_owned().await;
        self.0.held.borrow().then_some(Writing { _guard: guard })
    }

    /// Like [`Pen::take`], for threads that may block.
    pub fn take_blocking(&self) -> Option<Writing> {
        let guard = Arc::clone(&self.0.writing).blocking_lock_owned();
        self.0.held.borrow().then_some(Writing { _guard: guard })
    }

    /// Waits for the write in progress, then gives the lease up.
    pub async fn give_away(&self) {
        let _guard = self.0.writing.lock().await;
        self.0.held.send_replace(false);
    }

    /// Makes this gateway the holder.
    pub fn grant(&self) {
        self.0.held.send_replace(true);
    }

    /// Waits until this gateway holds the lease.
    pub async fn until_ours(&self) {
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
        let pen = Pen::new(true);
        let writing = pen.take().await;
        assert!(writing.is_some());
        assert!(pen.give_away().now_or_never().is_none(), "a write is in progress");
        drop(writing);
        pen.give_away().await;
        assert!(pen.take().await.is_none());
        assert!(pen.until_ours().now_or_never().is_none());
        pen.grant();
        pen.until_ours().await;
        assert!(pen.take().await.is_some());
    }
}
