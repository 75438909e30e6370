//! How often a person may be disturbed.

use std::collections::{BTreeMap, VecDeque};

use super::kind::Kind;
use super::timing::Times;

/// What was told, as far as it counts for what may be told next.
#[derive(Debug, Default)]
pub(super) struct Allowance {
    last: BTreeMap<(String, Kind), u64>,
    shown: VecDeque<u64>,
    summed_up: Option<u64>,
}

/// Whether there is room for one more notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Free,
    /// Only for one that says that there is more.
    Summary,
    None,
}

impl Allowance {
    /// From when on this upstream may be told to have this trouble.
    pub(super) fn free_at(&self, name: &str, kind: Kind, times: &Times) -> u64 {
        let last = self.last.get(&(name.to_owned(), kind));
        last.map_or(0, |last| last.saturating_add(times.same))
    }

    /// It is told now, in whatever way.
    pub(super) fn told(&mut self, name: &str, kind: Kind, now: u64) {
        self.last.insert((name.to_owned(), kind), now);
    }

    pub(super) fn room(&mut self, now: u64, times: &Times) -> Room {
        let past = |then: u64| now.saturating_sub(then) >= times.hour;
        while self.shown.front().is_some_and(|&then| past(then)) {
            self.shown.pop_front();
        }
        match self.summed_up {
            _ if self.shown.len() < times.most => Room::Free,
            Some(then) if !past(then) => Room::None,
            Some(_) | None => Room::Summary,
        }
    }

    pub(super) fn took(&mut self, now: u64) {
        self.shown.push_back(now);
    }

    pub(super) fn summed_up(&mut self, now: u64) {
        self.summed_up = Some(now);
    }
}
