//! Counts what becomes of the calls that an outage touches, without a lock in their way.
//!
//! A call that is held, or whose connection breaks, takes the tally of the moment with it and counts
//! itself there when it ends, also if the outage is over by then. A call that nothing happens to
//! counts nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;
use tokio::time::Instant;

use evermoor_core::history::incident::Calls;

/// The calls of one outage.
#[derive(Debug)]
pub(crate) struct Tally {
    held: AtomicU64,
    answered: AtomicU64,
    unknown: AtomicU64,
    not_sent: AtomicU64,
    /// How many that it touched have not ended yet.
    open: AtomicU64,
    made: Instant,
    /// When the first call was touched, in milliseconds since it was made, and one more.
    touched: AtomicU64,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            held: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            not_sent: AtomicU64::new(0),
            open: AtomicU64::new(0),
            made: Instant::now(),
            touched: AtomicU64::new(0),
        }
    }

    pub(crate) fn calls(&self) -> Calls {
        Calls {
            held: self.held.load(Ordering::Relaxed),
            answered: self.answered.load(Ordering::Relaxed),
            unknown: self.unknown.load(Ordering::Relaxed),
            not_sent: self.not_sent.load(Ordering::Relaxed),
        }
    }

    /// Whether some of its calls have not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed) > 0
    }

    /// How long ago its first call was touched.
    pub(super) fn touched_before(&self) -> Option<std::time::Duration> {
        let at = self.touched.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.made.elapsed().saturating_sub(std::time::Duration::from_millis(at)))
    }
}

/// Where calls find the tally of the moment.
#[derive(Clone, Debug)]
pub(crate) struct Tallies(pub(super) watch::Receiver<Arc<Tally>>);

impl Tallies {
    /// The outage touches a call.
    pub(crate) fn touch(&self) -> Touched {
        let tally = Arc::clone(&self.0.borrow());
        tally.open.fetch_add(1, Ordering::Relaxed);
        let now = u64::try_from(tally.made.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1;
        let _ = tally.touched.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        Touched { tally, held: false, ended: false }
    }
}

/// A call that an outage touched.
#[derive(Debug)]
pub(crate) struct Touched {
    tally: Arc<Tally>,
    held: bool,
    ended: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallEnd {
    Answered,
    Unknown,
    NotSent,
}

impl Touched {
    /// It waits; it counts once, however often.
    pub(crate) fn held(&mut self) {
        if !std::mem::replace(&mut self.held, true) {
            self.tally.held.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// It has its one answer.
    pub(crate) fn end(&mut self, how: CallEnd) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let count = match how {
            CallEnd::Answered => &self.tally.answered,
            CallEnd::Unknown => &self.tally.unknown,
            CallEnd::NotSent => &self.tally.not_sent,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts the end of a call whose reply comes as a stream.
pub(crate) struct Count {
    tallies: Tallies,
    touched: Option<Touched>,
}

impl Count {
    pub(crate) fn new(tallies: &Tallies, touched: Option<Touched>) -> Self {
        Self { tallies: tallies.clone(), touched }
    }

    /// The upstream answered, which counts if an outage touched the call before.
    pub(crate) fn answered(mut self) {
        self.touched.iter_mut().for_each(|call| call.end(CallEnd::Answered));
    }

    /// An outage took the answer away.
    pub(crate) fn lost(self) {
        self.touched.unwrap_or_else(|| self.tallies.touch()).end(CallEnd::Unknown);
    }

    /// It took too long, which is no outage, but counts if one touched the call before.
    pub(crate) fn late(mut self) {
        self.touched.iter_mut().for_each(|call| call.end(CallEnd::Unknown));
    }
}

impl Drop for Touched {
    fn drop(&mut self) {
        self.tally.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tallies() -> (watch::Sender<Arc<Tally>>, Tallies) {
        let (give, given) = watch::channel(Arc::new(Tally::new()));
        (give, Tallies(given))
    }

    #[tokio::test]
    async fn a_call_counts_once_however_often_it_waits_or_ends() {
        let (give, tallies) = tallies();
        let mut call = tallies.touch();
        call.held();
        call.held();
        call.end(CallEnd::Answered);
        call.end(CallEnd::Unknown);
        let wanted = Calls { held: 1, answered: 1, ..Calls::default() };
        assert_eq!(give.borrow().calls(), wanted);
        assert!(give.borrow().is_open());
        drop(call);
        assert!(!give.borrow().is_open());
    }

    #[tokio::test]
    async fn a_call_counts_where_it_was_touched_whatever_comes_after() {
        let (give, tallies) = tallies();
        let mut call = tallies.touch();
        let old = give.send_replace(Arc::new(Tally::new()));
        call.end(CallEnd::NotSent);
        assert_eq!((old.calls().not_sent, give.borrow().calls().not_sent), (1, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_tally_knows_when_its_first_call_was_touched() {
        let (give, tallies) = tallies();
        let second = std::time::Duration::from_secs(1);
        tokio::time::advance(second).await;
        assert_eq!(give.borrow().touched_before(), None);
        drop(tallies.touch());
        tokio::time::advance(second).await;
        drop(tallies.touch());
        assert_eq!(give.borrow().touched_before(), Some(second));
    }
}
