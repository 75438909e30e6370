//! Memory and CPU samples of an app's process, thinned with age.
//!
//! A sample is taken every 15 seconds. After a day one per five minutes is kept, after a week one per
//! hour, and after a year none. A merged sample has the highest memory, because peaks matter most,
//! and the mean load.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// One sample of a process, or several merged into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct ResourceSample {
    /// The start of `span` (Unix time in milliseconds).
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// The period it covers, in milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub span: u64,
    /// The highest memory of the span, in bytes.
    #[cfg_attr(test, ts(type = "number"))]
    pub memory: u64,
    /// The mean load of the span, in thousandths of one CPU.
    pub load: u32,
    /// The process's uptime, in milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub uptime: u64,
}

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// How often a sample is taken.
pub const SAMPLE_INTERVAL: u64 = 15 * SECOND;
/// The age from which samples are merged, and the span they then cover.
const STEPS: [(u64, u64); 2] = [(DAY, 5 * MINUTE), (7 * DAY, HOUR)];
/// The longest span of a sample.
pub const MAX_SPAN: u64 = STEPS[STEPS.len() - 1].1;
/// How long samples are kept.
pub const SAMPLE_RETENTION: u64 = 365 * DAY;

/// The span that a sample taken at `at` must cover at `now`; `None` if it is no longer kept. A span
/// counts as old only when all of it is.
pub fn span_of(at: u64, now: u64) -> Option<u64> {
    let old = |age: u64, span: u64| end_of_span(at, span).saturating_add(age) <= now;
    if old(SAMPLE_RETENTION, MAX_SPAN) {
        return None;
    }
    let step = STEPS.iter().rev().find(|(age, span)| old(*age, *span));
    Some(step.map_or(SAMPLE_INTERVAL, |(_, span)| *span))
}

/// Samples before this time may have to be thinned at `now`.
pub fn thinning_cutoff(now: u64) -> u64 {
    now.saturating_sub(STEPS[0].0)
}

/// Thins the samples of one app, given oldest first.
pub fn thin(samples: impl IntoIterator<Item = ResourceSample>, now: u64) -> Vec<ResourceSample> {
    let mut kept: Vec<ResourceSample> = Vec::new();
    // The weighted sum of loads and the total weight of the span being merged.
    let mut weighed: (u128, u128) = (0, 0);
    for sample in samples {
        let Some(span) = span_of(sample.at, now) else { continue };
        if sample.span >= span {
            kept.push(sample);
            continue;
        }
        let at = sample.at - sample.at % span;
        let weight = (u128::from(sample.load) * u128::from(sample.span), u128::from(sample.span));
        match kept.last_mut() {
            Some(last) if last.at == at && last.span == span => {
                weighed = (weighed.0 + weight.0, weighed.1 + weight.1);
                last.memory = last.memory.max(sample.memory);
                last.uptime = last.uptime.max(sample.uptime);
                last.load = mean(weighed);
            }
            Some(_) | None => {
                weighed = weight;
                kept.push(ResourceSample { at, span, load: mean(weighed), ..sample });
            }
        }
    }
    kept
}

fn mean((sum, weight): (u128, u128)) -> u32 {
    u32::try_from(sum / weight.max(1)).unwrap_or(u32::MAX)
}

fn end_of_span(at: u64, span: u64) -> u64 {
    (at - at % span).saturating_add(span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: u64 = 1_800_000_000_000;

    fn sample(at: u64, memory: u64, load: u32) -> ResourceSample {
        ResourceSample { at, span: SAMPLE_INTERVAL, memory, load, uptime: 0 }
    }

    fn year() -> impl Iterator<Item = ResourceSample> {
        let first = NOW - SAMPLE_RETENTION - 3 * DAY;
        (0..(SAMPLE_RETENTION + 3 * DAY) / SAMPLE_INTERVAL)
            .map(move |n| sample(first + n * SAMPLE_INTERVAL, n, 500))
    }

    #[test]
    fn a_year_of_one_app_is_about_sixteen_thousand_samples() {
        let kept = thin(year(), NOW);
        let of_span = |span| kept.iter().filter(|sample| sample.span == span).count();
        assert!(
            (5_760..5_800).contains(&of_span(SAMPLE_INTERVAL)),
            "a day: {}",
            of_span(SAMPLE_INTERVAL)
        );
        assert!((1_728..1_760).contains(&of_span(5 * MINUTE)), "a week: {}", of_span(5 * MINUTE));
        assert!((8_580..8_620).contains(&of_span(HOUR)), "the rest: {}", of_span(HOUR));
    }

    #[test]
    fn merging_keeps_the_highest_memory_and_the_mean_load() {
        let old = NOW - 2 * DAY;
        let old = old - old % (5 * MINUTE);
        let three = [
            sample(old, 1, 100),
            sample(old + SAMPLE_INTERVAL, 9, 200),
            sample(old + 2 * SAMPLE_INTERVAL, 3, 600),
        ];
        let wanted = ResourceSample { at: old, span: 5 * MINUTE, memory: 9, load: 300, uptime: 0 };
        assert_eq!(thin(three, NOW), [wanted]);
    }

    fn times() -> impl Strategy<Value = Vec<ResourceSample>> {
        let one = (0..400 * DAY, any::<u32>(), 0_u32..4000);
        prop::collection::vec(one, 0..80).prop_map(|mut all| {
            all.sort_by_key(|(age, ..)| std::cmp::Reverse(*age));
            all.dedup_by_key(|(age, ..)| *age);
            let made =
                all.into_iter().map(|(age, memory, load)| sample(NOW - age, memory.into(), load));
            made.collect()
        })
    }

    proptest! {
        #[test]
        fn thinning_twice_is_thinning_once(samples in times()) {
            let once = thin(samples, NOW);
            prop_assert_eq!(thin(once.clone(), NOW), once);
        }

        #[test]
        fn thinning_in_between_changes_no_time_and_no_peak(samples in times(), earlier in 0..30 * DAY) {
            let parts = |samples: Vec<ResourceSample>| -> Vec<(u64, u64, u64)> {
                samples.iter().map(|sample| (sample.at, sample.span, sample.memory)).collect()
            };
            let then = NOW - earlier;
            let on_the_way = thin(samples.clone(), then);
            prop_assert_eq!(parts(thin(on_the_way, NOW)), parts(thin(samples, NOW)));
        }

        #[test]
        fn the_highest_memory_of_the_year_is_never_lost(samples in times()) {
            let kept = |sample: &&ResourceSample| span_of(sample.at, NOW).is_some();
            let highest = samples.iter().filter(kept).map(|sample| sample.memory).max();
            let thinned = thin(samples.clone(), NOW);
            prop_assert_eq!(thinned.iter().map(|sample| sample.memory).max(), highest);
        }
    }
}
