//! The right to write down what is remembered, which one gateway has at a time.
//!
//! Catalogs, subscriptions and the history lie in files. When another gateway takes over, the files become its
//! own: what this one is writing comes to its end, and it writes no more.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard, watch};

#[derive(Clone)]
pub struct Pen(Arc<Inner>);

struct Inner {
    ours: watch::Sender<bool>,
    writing: Arc<Mutex<()>>,
}

/// The pen in the hand of somebody who writes.
pub struct Writing {
    _hand: OwnedMutexGuard<()>,
}

impl Pen {
    /// A pen, which may be another gateway's for now.
    pub fn new(ours: bool) -> Self {
        Self(Arc::new(Inner { ours: watch::Sender::new(ours), writing: Arc::default() }))
    }

    /// Whether it is ours at this moment.
    pub fn is_ours(&self) -> bool {
        *self.0.ours.borrow()
    }

    /// Takes it to write, if it is ours.
    pub async fn take(&self) -> Option<Writing> {
        let hand = Arc::clone(&self.0.writing).lock_owned().await;
        self.0.ours.borrow().then_some(Writing { _hand: hand })
    }

    /// The same for those who may block.
    pub fn take_blocking(&self) -> Option<Writing> {
        let hand = Arc::clone(&self.0.writing).blocking_lock_owned();
        self.0.ours.borrow().then_some(Writing { _hand: hand })
    }

    /// Gives it away, as soon as nobody writes.
    pub async fn give_away(&self) {
        let _hand = self.0.writing.lock().await;
        self.0.ours.send_replace(false);
    }

    /// It is ours from now on.
    pub fn receive(&self) {
        self.0.ours.send_replace(true);
    }

    /// Waits until it is ours.
    pub async fn until_ours(&self) {
        // The sender is in our own hand, so that it cannot be gone.
        let _ = self.0.ours.subscribe().wait_for(|ours| *ours).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn a_pen_is_given_away_when_nobody_writes_and_nobody_writes_after_that() {
        let pen = Pen::new(true);
        let writing = pen.take().await;
        assert!(writing.is_some());
        assert!(pen.give_away().now_or_never().is_none(), "somebody writes");
        drop(writing);
        pen.give_away().await;
        assert!(pen.take().await.is_none());
        assert!(pen.until_ours().now_or_never().is_none());
        pen.receive();
        pen.until_ours().await;
        assert!(pen.take().await.is_some());
    }
}
