//! The timeline of an upstream: its state changes during the last day.
//!
//! Only changes are kept. A period in which no gateway was running is "unwatched": the next gateway
//! reads from its predecessor's file when that last recorded a state.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::api::{TimelineSpan, TimelineState, UpstreamState};

/// How far back the timeline goes.
pub const TIMELINE_RETENTION: u64 = 24 * 60 * 60 * 1000;
/// Bounds the memory of an upstream that changes state all the time.
const MOST: usize = 2000;

/// The state changes of one upstream, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateLog(VecDeque<(u64, TimelineState)>);

impl StateLog {
    /// Records a state from `at` (Unix time in milliseconds) on. Returns whether it changed.
    pub fn note(&mut self, at: u64, state: TimelineState) -> bool {
        let last = self.0.back().copied();
        if last.is_some_and(|(_, before)| before == state) {
            return false;
        }
        // Keeps the order if the clock is set back.
        self.0.push_back((at.max(last.map_or(0, |(before, _)| before)), state));
        self.forget(at);
        true
    }

    /// Marks the time since `seen`, when a gateway last recorded a state, as unwatched.
    pub fn resume(&mut self, seen: u64) {
        self.note(seen, TimelineState::Unwatched);
    }

    /// The spans from `since` to `now`, oldest first and without gaps.
    pub fn spans(&self, since: u64, now: u64) -> Vec<TimelineSpan> {
        let since = since.max(now.saturating_sub(TIMELINE_RETENTION));
        let known = self.0.iter().copied();
        let unknown = std::iter::once((0, TimelineState::Unwatched));
        let mut spans: Vec<TimelineSpan> = Vec::new();
        for (at, state) in unknown.chain(known) {
            if let Some(before) = spans.last_mut() {
                before.to = Some(at.max(since));
            }
            spans.push(TimelineSpan { from: at.max(since), to: None, state });
        }
        spans.retain(|span| span.to.is_none_or(|to| to > span.from));
        // A state between two equal ones may have had no duration.
        spans.dedup_by(|next, before| {
            let goes_on = next.state == before.state;
            if goes_on {
                before.to = next.to;
            }
            goes_on
        });
        spans
    }

    /// Drops changes that no span of the last day needs.
    fn forget(&mut self, now: u64) {
        let old = now.saturating_sub(TIMELINE_RETENTION);
        while self.0.get(1).is_some_and(|(next, _)| *next <= old) || self.0.len() > MOST {
            self.0.pop_front();
        }
    }
}

/// The kind of a connection state, without its data.
pub fn timeline_state(link: &UpstreamState) -> TimelineState {
    match link {
        UpstreamState::Off => TimelineState::Off,
        UpstreamState::Connecting => TimelineState::Connecting,
        UpstreamState::Connected { .. } => TimelineState::Connected,
        UpstreamState::Down { .. } => TimelineState::Down,
        UpstreamState::Paused { .. } => TimelineState::Paused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: u64 = 1_800_000_000_000;

    #[test]
    fn spans_are_contiguous_and_the_last_one_is_open() {
        let mut log = StateLog::default();
        log.note(NOW - 5_000, TimelineState::Connecting);
        log.note(NOW - 4_000, TimelineState::Connected);
        log.note(NOW - 3_000, TimelineState::Connected);
        log.resume(NOW - 2_000);
        log.note(NOW - 1_000, TimelineState::Down);
        let spans = log.spans(NOW - 4_500, NOW);
        let states: Vec<TimelineState> = spans.iter().map(|span| span.state).collect();
        use TimelineState::{Connected, Connecting, Down, Unwatched};
        assert_eq!(states, [Connecting, Connected, Unwatched, Down]);
        assert_eq!((spans[0].from, spans[1].to), (NOW - 4_500, Some(NOW - 2_000)));
        assert_eq!(spans[3].to, None);
    }

    #[test]
    fn without_records_everything_is_unwatched() {
        let unknown = TimelineSpan {
            from: NOW - TIMELINE_RETENTION,
            to: None,
            state: TimelineState::Unwatched,
        };
        assert_eq!(StateLog::default().spans(0, NOW), [unknown]);
    }

    proptest! {
        #[test]
        fn there_are_no_gaps_even_if_the_clock_is_set_back(times in prop::collection::vec((0..2 * TIMELINE_RETENTION, any::<bool>()), 0..60)) {
            let mut log = StateLog::default();
            for (at, up) in times {
                log.note(NOW + at, if up { TimelineState::Connected } else { TimelineState::Down });
            }
            let spans = log.spans(NOW, NOW + 2 * TIMELINE_RETENTION);
            prop_assert_eq!(spans.first().unwrap().from, NOW + TIMELINE_RETENTION);
            prop_assert_eq!(spans.last().unwrap().to, None);
            for pair in spans.windows(2) {
                prop_assert_eq!(pair[0].to, Some(pair[1].from));
                prop_assert!(pair[0].from < pair[1].from && pair[0].state != pair[1].state);
            }
        }
    }
}
