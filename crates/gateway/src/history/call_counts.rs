//! Counts the outcomes of calls that an incident affects, without locks.
//!
//! A call that is held, or whose connection breaks, keeps the current tally and is counted there when
//! it ends, even if the incident is over by then. Unaffected calls are not counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;
use tokio::time::Instant;

use evermoor_core::history::incident::AffectedCalls;

/// The counts of one incident.
#[derive(Debug)]
pub(crate) struct Tally {
    held: AtomicU64,
    answered: AtomicU64,
    unknown: AtomicU64,
    not_sent: AtomicU64,
    /// How many affected calls have not ended yet.
    open: AtomicU64,
    made: Instant,
    /// When the first call was affected, in milliseconds since `made`, plus one; 0 is never.
    affected: AtomicU64,
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
            affected: AtomicU64::new(0),
        }
    }

    pub(crate) fn calls(&self) -> AffectedCalls {
        AffectedCalls {
            held: self.held.load(Ordering::Relaxed),
            answered: self.answered.load(Ordering::Relaxed),
            unknown: self.unknown.load(Ordering::Relaxed),
            not_sent: self.not_sent.load(Ordering::Relaxed),
        }
    }

    /// Whether some affected calls have not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed) > 0
    }

    /// How long ago the first call was affected.
    pub(super) fn affected_since(&self) -> Option<std::time::Duration> {
        let at = self.affected.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.made.elapsed().saturating_sub(std::time::Duration::from_millis(at)))
    }
}

/// The tally of the current or next incident.
#[derive(Clone, Debug)]
pub(crate) struct CurrentTally(pub(super) watch::Receiver<Arc<Tally>>);

impl CurrentTally {
    /// Counts a call as affected.
    pub(crate) fn affect(&self) -> AffectedCall {
        let tally = Arc::clone(&self.0.borrow());
        tally.open.fetch_add(1, Ordering::Relaxed);
        let now = u64::try_from(tally.made.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1;
        let _ = tally.affected.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        AffectedCall { tally, held: false, ended: false }
    }
}

/// A call that an incident affects.
#[derive(Debug)]
pub(crate) struct AffectedCall {
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

impl AffectedCall {
    /// Counts the call as held, once.
    pub(crate) fn held(&mut self) {
        if !std::mem::replace(&mut self.held, true) {
            self.tally.held.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts the end of the call, once.
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

/// Counts the end of a call whose reply is a stream.
pub(crate) struct ReplyTally {
    current_tally: CurrentTally,
    affected: Option<AffectedCall>,
}

impl ReplyTally {
    pub(crate) fn new(current_tally: &CurrentTally, affected: Option<AffectedCall>) -> Self {
        Self { current_tally: current_tally.clone(), affected }
    }

    /// The upstream answered; counts if an incident affected the call before.
    pub(crate) fn answered(mut self) {
        self.affected.iter_mut().for_each(|call| call.end(CallEnd::Answered));
    }

    /// The connection broke before the answer.
    pub(crate) fn lost(self) {
        self.affected.unwrap_or_else(|| self.current_tally.affect()).end(CallEnd::Unknown);
    }

    /// The call timed out, which is not an incident; counts if one affected the call before.
    pub(crate) fn late(mut self) {
        self.affected.iter_mut().for_each(|call| call.end(CallEnd::Unknown));
    }
}

impl Drop for AffectedCall {
    fn drop(&mut self) {
        self.tally.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn current_tally() -> (watch::Sender<Arc<Tally>>, CurrentTally) {
        let (sender, receiver) = watch::channel(Arc::new(Tally::new()));
        (sender, CurrentTally(receiver))
    }

    #[tokio::test]
    async fn a_call_counts_once_even_if_it_is_held_or_ended_twice() {
        let (sender, current_tally) = current_tally();
        let mut call = current_tally.affect();
        call.held();
        call.held();
        call.end(CallEnd::Answered);
        call.end(CallEnd::Unknown);
        let wanted = AffectedCalls { held: 1, answered: 1, ..AffectedCalls::default() };
        assert_eq!(sender.borrow().calls(), wanted);
        assert!(sender.borrow().is_open());
        drop(call);
        assert!(!sender.borrow().is_open());
    }

    #[tokio::test]
    async fn a_call_counts_in_the_incident_that_affected_it() {
        let (sender, current_tally) = current_tally();
        let mut call = current_tally.affect();
        let old = sender.send_replace(Arc::new(Tally::new()));
        call.end(CallEnd::NotSent);
        assert_eq!((old.calls().not_sent, sender.borrow().calls().not_sent), (1, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_tally_knows_when_its_first_call_was_affected() {
        let (sender, current_tally) = current_tally();
        let second = std::time::Duration::from_secs(1);
        tokio::time::advance(second).await;
        assert_eq!(sender.borrow().affected_since(), None);
        drop(current_tally.affect());
        tokio::time::advance(second).await;
        drop(current_tally.affect());
        assert_eq!(sender.borrow().affected_since(), Some(second));
    }
}
