//! Latency percentiles of an upstream's calls, per minute, for the last day.
//!
//! A finished minute is two percentiles and a count. For the current minute the durations themselves
//! are kept, up to a limit; beyond it, an even sample of them.

use std::collections::VecDeque;

use crate::api::LatencyPoint;

const MINUTE: u64 = 60_000;
/// How many minutes are kept: one day.
const KEPT: usize = 24 * 60;
/// The maximum number of durations in memory. A power of two, so that sampling stays even.
const MOST: usize = 1024;

/// The latencies of one upstream.
#[derive(Clone, Debug, Default)]
pub struct LatencyHistory {
    over: VecDeque<LatencyPoint>,
    now: Minute,
}

#[derive(Clone, Debug, Default)]
struct Minute {
    at: u64,
    calls: u32,
    /// Every `every`-th duration.
    kept: Vec<u32>,
    every: u32,
}

impl LatencyHistory {
    /// Records a call that ended at `at` (Unix time in milliseconds) after `ms`.
    pub fn took(&mut self, at: u64, ms: u64) {
        let minute = at - at % MINUTE;
        // If the clock is set back, the call counts for the current minute.
        if self.now.calls == 0 || minute > self.now.at {
            let over = std::mem::take(&mut self.now);
            self.over.extend(over.point());
            self.now = Minute { at: minute, every: 1, ..over.emptied() };
            while self.over.len() >= KEPT {
                self.over.pop_front();
            }
        }
        self.now.add(u32::try_from(ms).unwrap_or(u32::MAX));
    }

    /// The minutes since `since` that had calls, oldest first.
    pub fn points(&self, since: u64) -> Vec<LatencyPoint> {
        let all = self.over.iter().copied().chain(self.now.point());
        all.filter(|point| point.at.saturating_add(MINUTE) > since).collect()
    }
}

impl Minute {
    fn add(&mut self, ms: u32) {
        if self.calls.is_multiple_of(self.every.max(1)) {
            self.kept.push(ms);
        }
        self.calls = self.calls.saturating_add(1);
        if self.kept.len() >= MOST {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.every = self.every.max(1).saturating_mul(2);
        }
    }

    fn point(&self) -> Option<LatencyPoint> {
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        let share = |percent: usize| u64::from(sorted[(last * percent).div_ceil(100)]);
        let (p50_ms, p95_ms) = (share(50), share(95));
        Some(LatencyPoint { at: self.at, p50_ms, p95_ms, calls: self.calls })
    }

    /// An empty minute that reuses the allocation.
    fn emptied(self) -> Self {
        let mut kept = self.kept;
        kept.clear();
        Self { kept, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOON: u64 = 1_800_000_000_000 - 1_800_000_000_000 % MINUTE;

    #[test]
    fn a_minute_has_its_median_and_its_95th_percentile() {
        let mut latencies = LatencyHistory::default();
        for ms in 1..=100 {
            latencies.took(NOON + ms, ms);
        }
        latencies.took(NOON + MINUTE, 7);
        let first = LatencyPoint { at: NOON, p50_ms: 51, p95_ms: 96, calls: 100 };
        let second = LatencyPoint { at: NOON + MINUTE, p50_ms: 7, p95_ms: 7, calls: 1 };
        assert_eq!(latencies.points(0), [first, second]);
        assert_eq!(latencies.points(NOON + MINUTE), [second]);
        assert_eq!(LatencyHistory::default().points(0), []);
    }

    #[test]
    fn only_one_day_is_kept() {
        let mut latencies = LatencyHistory::default();
        for minute in 0..2 * KEPT as u64 {
            latencies.took(NOON + minute * MINUTE, 1);
        }
        assert_eq!(latencies.points(0).len(), KEPT);
    }

    proptest! {
        #[test]
        fn sampling_bounds_memory_and_keeps_the_percentiles(calls in 1_u32..20_000) {
            let mut latencies = LatencyHistory::default();
            for call in 0..calls {
                latencies.took(NOON, u64::from(call * 1000 / calls));
            }
            prop_assert!(latencies.now.kept.len() < MOST);
            let point = latencies.points(0)[0];
            prop_assert_eq!(point.calls, calls);
            if calls > 1000 {
                prop_assert!((490..=510).contains(&point.p50_ms) && (935..=965).contains(&point.p95_ms), "{:?}", point);
            }
        }
    }
}
