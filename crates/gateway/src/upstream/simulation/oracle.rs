//! Compares what editors were told with what the servers did.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::time::Duration;

use super::server::Server;

/// Everything that was asked and answered on a day.
pub(super) struct Log {
    servers: Vec<Server>,
    pub(super) calls: Vec<Call>,
    /// One call to each server after the last fault was taken back.
    pub(super) last: Vec<Call>,
    pub(super) faults: usize,
}

/// One call, as its editor saw it.
#[derive(Debug, Hash)]
pub(super) struct Call {
    pub(super) server: usize,
    pub(super) nonce: String,
    pub(super) answer: Answer,
    pub(super) took: Duration,
}

/// What an editor was told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Answer {
    /// The result, with the nonce that the server put into it.
    Result(String),
    NotSent,
    Unknown,
    /// The editor did not wait for it.
    GaveUp,
    Nonsense,
}

/// The hold, the benefit of the doubt, and a little.
const LONGEST: Duration = Duration::from_secs(25 + 600 + 5);

impl Log {
    pub(super) fn new(servers: Vec<Server>) -> Self {
        Self { servers, calls: Vec::new(), last: Vec::new(), faults: 0 }
    }

    /// Two days with the same fingerprint were the same day.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut calls: Vec<&Call> = self.calls.iter().chain(&self.last).collect();
        calls.sort_by_key(|call| &call.nonce);
        let mut hasher = DefaultHasher::new();
        (calls, self.faults).hash(&mut hasher);
        hasher.finish()
    }

    fn count(&self, wanted: impl Fn(&Answer) -> bool) -> usize {
        self.calls.iter().filter(|call| wanted(&call.answer)).count()
    }
}

impl std::fmt::Display for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} calls, {} faults: {} answered, {} not sent, {} unknown, {} given up by their editor",
            self.calls.len(),
            self.faults,
            self.count(|answer| matches!(answer, Answer::Result(_))),
            self.count(|answer| *answer == Answer::NotSent),
            self.count(|answer| *answer == Answer::Unknown),
            self.count(|answer| *answer == Answer::GaveUp),
        )
    }
}

/// Fails if a promise was broken.
pub(super) fn judge(log: &Log) {
    assert!(log.calls.len() > 10_000 && log.faults > 1_000, "the day was too quiet: {log}");
    for call in &log.calls {
        let executions: Vec<u32> =
            log.servers.iter().map(|server| server.executions(&call.nonce)).collect();
        let here = executions[call.server];
        assert_eq!(executions.iter().sum::<u32>(), here, "a call reached another server: {call:?}");
        assert!(here <= 1, "a call ran twice: {call:?}");
        match &call.answer {
            Answer::Result(nonce) => {
                assert_eq!((nonce, here), (&call.nonce, 1), "an answer to another call: {call:?}");
            }
            Answer::NotSent => assert_eq!(here, 0, "it ran and was called not sent: {call:?}"),
            Answer::Unknown | Answer::GaveUp => {}
            Answer::Nonsense => panic!("an answer that is none: {call:?}"),
        }
        assert!(call.took <= LONGEST, "an answer too late: {call:?}");
    }
    for call in &log.last {
        assert_eq!(
            call.answer,
            Answer::Result(call.nonce.clone()),
            "not well after the last fault"
        );
        assert!(call.took < Duration::from_secs(5), "slow after the last fault: {call:?}");
    }
}
