//! The calls of editors, as users see them: who called what, the outcome, and how long it took.
//!
//! # Theory of operation
//! An exchange carries a [`CallRecorder`] and closes it with its response; a record that is dropped
//! before counts as cancelled. The newest calls are kept in a ring and the latencies per upstream
//! and minute in histograms, all in memory. Recording a call takes one short lock. A follower is
//! woken with the newest number and copies new calls from the ring, so a slow reader delays nobody.
//! Arguments and results are never inspected, except for one flag. [`record`] is the record of one
//! call.

mod record;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use evermoor_core::api::{CallOutcome, LatencyPoint, RecentCall};
use evermoor_core::history::latency::LatencyHistory;

pub use record::CallRecorder;

/// The newest calls, and latencies per upstream.
#[derive(Clone)]
pub struct Activity(Arc<ActivityState>);

struct ActivityState {
    kept: Mutex<KeptCalls>,
    /// The number of the newest call, for followers.
    newest: watch::Sender<u64>,
}

#[derive(Default)]
struct KeptCalls {
    calls: VecDeque<FinishedCall>,
    /// How many calls there were in total.
    count: u64,
    latencies: HashMap<String, LatencyHistory>,
}

/// A call that has ended.
struct FinishedCall {
    number: u64,
    at: u64,
    editor: Arc<str>,
    client: Option<Box<str>>,
    upstream: Option<Box<str>>,
    tool: Box<str>,
    outcome: CallOutcome,
    ms: u64,
    held_ms: u64,
}

/// Which calls to return.
#[derive(Clone, Debug, Default)]
pub struct CallFilter {
    pub upstream: Option<String>,
    pub editor: Option<String>,
    pub outcome: Option<CallOutcome>,
    /// Only those with a smaller number.
    pub before: Option<u64>,
}

/// How many calls are kept.
const CAPACITY: usize = 2000;
/// Limits memory if many upstreams come and go.
const MAX_UPSTREAMS: usize = 256;

impl Default for Activity {
    fn default() -> Self {
        let newest = watch::Sender::new(0);
        Self(Arc::new(ActivityState { kept: Mutex::default(), newest }))
    }
}

impl Activity {
    fn add(&self, mut finished: FinishedCall) {
        let mut kept = self.0.kept.lock();
        kept.count += 1;
        finished.number = kept.count;
        if let Some(upstream) = finished.upstream.as_deref().filter(|_| answered(finished.outcome))
        {
            let took = finished.ms.saturating_sub(finished.held_ms);
            kept.took(upstream, finished.at.saturating_add(finished.ms), took);
        }
        if kept.calls.len() >= CAPACITY {
            kept.calls.pop_front();
        }
        let number = finished.number;
        kept.calls.push_back(finished);
        drop(kept);
        if self.0.newest.receiver_count() > 0 {
            self.0.newest.send_replace(number);
        }
    }

    /// The newest calls that match, newest first, at most `most`.
    pub fn newest(&self, wanted: &CallFilter, most: usize) -> Vec<RecentCall> {
        let kept = self.0.kept.lock();
        let found = kept.calls.iter().rev().filter(|finished| wanted.includes(finished));
        found.take(most).map(FinishedCall::shown).collect()
    }

    /// Follows the calls from now on.
    pub fn follow(&self) -> CallFollower {
        let newest = self.0.newest.subscribe();
        let reported = self.0.kept.lock().count;
        CallFollower { activity: self.clone(), newest, reported }
    }

    /// The latencies of an upstream's calls since this time.
    pub fn latency(&self, upstream: &str, since: u64) -> Vec<LatencyPoint> {
        let kept = self.0.kept.lock();
        kept.latencies.get(upstream).map(|it| it.points(since)).unwrap_or_default()
    }
}

/// A follower of the calls.
pub struct CallFollower {
    activity: Activity,
    newest: watch::Receiver<u64>,
    reported: u64,
}

impl CallFollower {
    /// Waits for calls and returns all since the last time, oldest first. Calls that were already
    /// dropped from the ring are missing. `None` when the gateway ends.
    pub async fn next(&mut self) -> Option<Vec<RecentCall>> {
        loop {
            let reported = self.reported;
            self.newest.wait_for(|newest| *newest > reported).await.ok()?;
            let kept = self.activity.0.kept.lock();
            let new = kept.calls.iter().rev().take_while(|finished| finished.number > reported);
            let mut calls: Vec<RecentCall> = new.map(FinishedCall::shown).collect();
            self.reported = kept.count;
            drop(kept);
            calls.reverse();
            if !calls.is_empty() {
                return Some(calls);
            }
        }
    }
}

impl KeptCalls {
    fn took(&mut self, upstream: &str, at: u64, ms: u64) {
        // Look up by reference first: new names are rare.
        if let Some(latencies) = self.latencies.get_mut(upstream) {
            return latencies.took(at, ms);
        }
        if self.latencies.len() < MAX_UPSTREAMS {
            self.latencies.entry(upstream.to_owned()).or_default().took(at, ms);
        }
    }
}

impl CallFilter {
    fn includes(&self, finished: &FinishedCall) -> bool {
        self.before.is_none_or(|before| finished.number < before)
            && self
                .upstream
                .as_deref()
                .is_none_or(|name| finished.upstream.as_deref() == Some(name))
            && self.editor.as_deref().is_none_or(|name| &*finished.editor == name)
            && self.outcome.is_none_or(|outcome| finished.outcome == outcome)
    }
}

impl FinishedCall {
    fn shown(&self) -> RecentCall {
        RecentCall {
            number: self.number,
            at: self.at,
            editor: self.editor.as_ref().to_owned(),
            client: self.client.as_deref().map(str::to_owned),
            upstream: self.upstream.as_deref().map(str::to_owned),
            tool: self.tool.as_ref().to_owned(),
            outcome: self.outcome,
            ms: self.ms,
            held_ms: self.held_ms,
        }
    }
}

/// Whether the upstream answered, so that the duration is its latency.
fn answered(outcome: CallOutcome) -> bool {
    matches!(outcome, CallOutcome::Ok | CallOutcome::ToolError)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(upstream: &str, outcome: CallOutcome, ms: u64) -> FinishedCall {
        FinishedCall {
            number: 0,
            at: 1_000,
            editor: "zed".into(),
            client: None,
            upstream: Some(upstream.into()),
            tool: "echo".into(),
            outcome,
            ms,
            held_ms: 0,
        }
    }

    fn numbers(calls: &[RecentCall]) -> Vec<u64> {
        calls.iter().map(|call| call.number).collect()
    }

    #[test]
    fn the_newest_calls_come_first_and_are_filtered() {
        let activity = Activity::default();
        for number in 0..5 {
            let outcome = if number % 2 == 0 { CallOutcome::Ok } else { CallOutcome::NotSent };
            activity.add(finished(if number < 3 { "a" } else { "b" }, outcome, 10));
        }
        let asked = |wanted: CallFilter, most| numbers(&activity.newest(&wanted, most));
        assert_eq!(asked(CallFilter::default(), 2), [5, 4]);
        assert_eq!(asked(CallFilter { before: Some(4), ..CallFilter::default() }, 9), [3, 2, 1]);
        assert_eq!(
            asked(CallFilter { upstream: Some("b".into()), ..CallFilter::default() }, 9),
            [5, 4]
        );
        let lost = CallFilter { outcome: Some(CallOutcome::NotSent), ..CallFilter::default() };
        assert_eq!(asked(lost, 9), [4, 2]);
        assert_eq!(
            asked(CallFilter { editor: Some("x".into()), ..CallFilter::default() }, 9),
            [0_u64; 0]
        );
        assert_eq!(activity.latency("a", 0)[0].calls, 2, "a call that was not sent has no latency");
    }

    #[test]
    fn only_the_newest_calls_are_kept() {
        let activity = Activity::default();
        for _ in 0..CAPACITY + 10 {
            activity.add(finished("a", CallOutcome::Ok, 1));
        }
        let kept = activity.newest(&CallFilter::default(), usize::MAX);
        assert_eq!((kept.len(), kept[CAPACITY - 1].number), (CAPACITY, 11));
    }

    #[tokio::test]
    async fn a_follower_gets_every_call_in_order() {
        let activity = Activity::default();
        activity.add(finished("a", CallOutcome::Ok, 1));
        let mut following = activity.follow();
        activity.add(finished("a", CallOutcome::Ok, 1));
        activity.add(finished("a", CallOutcome::Unknown, 1));
        assert_eq!(numbers(&following.next().await.unwrap()), [2, 3]);
        activity.add(finished("a", CallOutcome::Ok, 1));
        assert_eq!(numbers(&following.next().await.unwrap()), [4]);
    }
}
