//! Compares the answers that editors got with what the servers executed.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::time::Duration;

use super::server::SimulatedServer;

/// All calls of a day with their answers.
pub(super) struct CallLog {
    servers: Vec<SimulatedServer>,
    pub(super) calls: Vec<RecordedCall>,
    /// One call to each server after the last fault has ended.
    pub(super) last: Vec<RecordedCall>,
    pub(super) faults: usize,
}

/// One call, as its editor saw it.
#[derive(Debug, Hash)]
pub(super) struct RecordedCall {
    pub(super) server: usize,
    pub(super) nonce: String,
    pub(super) answer: RecordedAnswer,
    pub(super) took: Duration,
}

/// The answer that an editor got.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum RecordedAnswer {
    /// The result, with the nonce that the server put into it.
    Result(String),
    NotSent,
    Unknown,
    /// The editor cancelled the call.
    GaveUp,
    Malformed,
}

/// The hold, the call timeout, and a margin.
const LONGEST: Duration = Duration::from_secs(25 + 600 + 5);

impl CallLog {
    pub(super) fn new(servers: Vec<SimulatedServer>) -> Self {
        Self { servers, calls: Vec::new(), last: Vec::new(), faults: 0 }
    }

    /// Two days with the same fingerprint had the same calls and faults.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut calls: Vec<&RecordedCall> = self.calls.iter().chain(&self.last).collect();
        calls.sort_by_key(|call| &call.nonce);
        let mut hasher = DefaultHasher::new();
        (calls, self.faults).hash(&mut hasher);
        hasher.finish()
    }

    fn count(&self, wanted: impl Fn(&RecordedAnswer) -> bool) -> usize {
        self.calls.iter().filter(|call| wanted(&call.answer)).count()
    }
}

impl std::fmt::Display for CallLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} calls, {} faults: {} answered, {} not sent, {} unknown, {} given up by their editor",
            self.calls.len(),
            self.faults,
            self.count(|answer| matches!(answer, RecordedAnswer::Result(_))),
            self.count(|answer| *answer == RecordedAnswer::NotSent),
            self.count(|answer| *answer == RecordedAnswer::Unknown),
            self.count(|answer| *answer == RecordedAnswer::GaveUp),
        )
    }
}

/// Panics if a promise of the delivery was broken.
pub(super) fn check(log: &CallLog) {
    assert!(log.calls.len() > 10_000 && log.faults > 1_000, "the day was too quiet: {log}");
    for call in &log.calls {
        let executions: Vec<u32> =
            log.servers.iter().map(|server| server.executions(&call.nonce)).collect();
        let here = executions[call.server];
        assert_eq!(executions.iter().sum::<u32>(), here, "a call reached another server: {call:?}");
        assert!(here <= 1, "a call ran twice: {call:?}");
        match &call.answer {
            RecordedAnswer::Result(nonce) => {
                assert_eq!((nonce, here), (&call.nonce, 1), "an answer to another call: {call:?}");
            }
            RecordedAnswer::NotSent => {
                assert_eq!(here, 0, "it ran and was reported as not sent: {call:?}")
            }
            RecordedAnswer::Unknown | RecordedAnswer::GaveUp => {}
            RecordedAnswer::Malformed => panic!("a malformed answer: {call:?}"),
        }
        assert!(call.took <= LONGEST, "an answer too late: {call:?}");
    }
    for call in &log.last {
        assert_eq!(
            call.answer,
            RecordedAnswer::Result(call.nonce.clone()),
            "not healthy after the last fault"
        );
        assert!(call.took < Duration::from_secs(5), "slow after the last fault: {call:?}");
    }
}
