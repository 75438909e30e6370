//! How often the user may be interrupted.

use std::collections::{BTreeMap, VecDeque};

use super::kind::ProblemKind;
use super::timing::AlertTiming;

/// The times of recent alerts, which limit new ones.
#[derive(Debug, Default)]
pub(super) struct RateLimit {
    last: BTreeMap<(String, ProblemKind), u64>,
    shown: VecDeque<u64>,
    summary: Option<u64>,
}

/// Whether one more alert may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permit {
    Allowed,
    /// Only a summary that says there are more problems.
    SummaryOnly,
    Denied,
}

impl RateLimit {
    /// From when on this problem of this upstream may be announced.
    pub(super) fn next_allowed(&self, name: &str, kind: ProblemKind, timing: &AlertTiming) -> u64 {
        let last = self.last.get(&(name.to_owned(), kind));
        last.map_or(0, |last| last.saturating_add(timing.repeat_interval))
    }

    /// Records that this problem was announced, alone or with others.
    pub(super) fn record(&mut self, name: &str, kind: ProblemKind, now: u64) {
        self.last.insert((name.to_owned(), kind), now);
    }

    pub(super) fn permit(&mut self, now: u64, timing: &AlertTiming) -> Permit {
        let expired = |then: u64| now.saturating_sub(then) >= timing.rate_window;
        while self.shown.front().is_some_and(|&then| expired(then)) {
            self.shown.pop_front();
        }
        match self.summary {
            _ if self.shown.len() < timing.rate_limit => Permit::Allowed,
            Some(then) if !expired(then) => Permit::Denied,
            Some(_) | None => Permit::SummaryOnly,
        }
    }

    pub(super) fn record_shown(&mut self, now: u64) {
        self.shown.push_back(now);
    }

    pub(super) fn record_summary(&mut self, now: u64) {
        self.summary = Some(now);
    }
}
