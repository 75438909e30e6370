//! How an app's memory use develops.
//!
//! A single number says little: 1.8 GB may be the usual level, or twice that of an hour ago. A line
//! fitted through the samples shows which, and when it reaches the alarm.

use std::time::Duration;

use crate::config::memory_size;

/// The memory use at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySample {
    /// Since any time before the first sample.
    pub at: Duration,
    pub bytes: u64,
}

/// A line fitted through samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryTrend {
    pub now: u64,
    /// Bytes per hour, negative if it shrinks. `None` while there are too few samples.
    pub per_hour: Option<f64>,
    /// How long until it reaches the alarm at this rate, if it grows.
    pub until_alarm: Option<Duration>,
}

/// A trend needs samples over at least this time, and at least `MIN_SAMPLES`.
const MIN_TIME: Duration = Duration::from_secs(600);
const MIN_SAMPLES: usize = 5;
/// A slower change counts as steady: 20 MB per hour.
const STEADY: f64 = 20e6;
/// A prediction further ahead is not worth showing.
const MAX_HOURS: f64 = 7.0 * 24.0;

impl MemoryTrend {
    /// The trend of samples in chronological order; `None` if there are none.
    pub fn of(samples: &[MemorySample], alarm: Option<u64>) -> Option<Self> {
        let last = samples.last()?;
        let per_hour = slope(samples);
        let until_alarm = alarm.zip(per_hour).and_then(|(alarm, per_hour)| {
            let missing = alarm.checked_sub(last.bytes)? as f64;
            let hours = missing / per_hour;
            (per_hour >= STEADY && hours <= MAX_HOURS)
                .then(|| Duration::from_secs_f64(hours * 3600.0))
        });
        Some(Self { now: last.bytes, per_hour, until_alarm })
    }

    /// One sentence: "1.8 GB, growing by 120 MB an hour; 2.5 GB in about 6 hours."
    pub fn sentence(&self, alarm: Option<u64>) -> String {
        let now = memory_size::format_bytes(self.now);
        if let Some(alarm) = alarm.filter(|alarm| self.now >= *alarm) {
            return format!(
                "{now}, above the {} at which it has failed before.",
                memory_size::format_bytes(alarm)
            );
        }
        let change = match self.per_hour {
            None => return format!("{now}."),
            Some(slope) if slope.abs() < STEADY => return format!("{now}, steady."),
            Some(slope) if slope < 0.0 => {
                format!("shrinking by {} an hour", memory_size::format_bytes(-slope as u64))
            }
            Some(slope) => {
                format!("growing by {} an hour", memory_size::format_bytes(slope as u64))
            }
        };
        match (self.until_alarm, alarm) {
            (Some(left), Some(alarm)) => {
                format!(
                    "{now}, {change}; {} in about {}.",
                    memory_size::format_bytes(alarm),
                    approximate(left)
                )
            }
            _ => format!("{now}, {change}."),
        }
    }
}

/// The slope in bytes per hour, by least squares.
fn slope(samples: &[MemorySample]) -> Option<f64> {
    let (first, last) = (samples.first()?, samples.last()?);
    if samples.len() < MIN_SAMPLES || last.at.saturating_sub(first.at) < MIN_TIME {
        return None;
    }
    let points: Vec<(f64, f64)> = samples
        .iter()
        .map(|sample| {
            (sample.at.saturating_sub(first.at).as_secs_f64() / 3600.0, sample.bytes as f64)
        })
        .collect();
    let count = points.len() as f64;
    let (sum_x, sum_y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let (over, under) = points.iter().fold((0.0, 0.0), |(over, under), (x, y)| {
        (over + (x - mean_x) * (y - mean_y), under + (x - mean_x) * (x - mean_x))
    });
    (under > 0.0).then(|| over / under)
}

fn approximate(left: Duration) -> String {
    let minutes = left.as_secs() / 60;
    match minutes {
        0..=1 => "a minute".into(),
        2..=89 => format!("{minutes} minutes"),
        90..=2879 => format!("{} hours", (minutes + 30) / 60),
        _ => format!("{} days", (minutes + 720) / 1440),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALARM: Option<u64> = Some(2_500_000_000);

    fn line(from: u64, per_hour: i64, minutes: u64) -> Vec<MemorySample> {
        let at = |minute: u64| {
            let change = per_hour * i64::try_from(minute).unwrap() / 60;
            MemorySample {
                at: Duration::from_secs(minute * 60),
                bytes: from.saturating_add_signed(change),
            }
        };
        (0..=minutes).map(at).collect()
    }

    fn sentence(samples: &[MemorySample]) -> String {
        MemoryTrend::of(samples, ALARM).unwrap().sentence(ALARM)
    }

    #[test]
    fn a_trend_is_described_in_a_sentence() {
        let growing = line(1_000_000_000, 120_000_000, 120);
        assert_eq!(
            sentence(&growing),
            "1.2 GB, growing by 120 MB an hour; 2.5 GB in about 11 hours."
        );
        assert_eq!(sentence(&line(1_800_000_000, 0, 60)), "1.8 GB, steady.");
        let shrinking = line(1_800_000_000, -300_000_000, 60);
        assert_eq!(sentence(&shrinking), "1.5 GB, shrinking by 300 MB an hour.");
        assert_eq!(
            sentence(&line(2_600_000_000, 0, 60)),
            "2.6 GB, above the 2.5 GB at which it has failed before."
        );
    }

    #[test]
    fn too_few_samples_have_no_trend() {
        assert_eq!(sentence(&line(1_000_000_000, 900_000_000, 3)), "1.0 GB.");
        assert_eq!(sentence(&line(812_000_000, 0, 0)), "812 MB.");
        assert_eq!(MemoryTrend::of(&[], ALARM), None);
    }

    #[test]
    fn without_an_alarm_there_is_no_prediction() {
        let trend = MemoryTrend::of(&line(1_000_000_000, 120_000_000, 60), None).unwrap();
        assert_eq!(trend.until_alarm, None);
        assert_eq!(trend.sentence(None), "1.1 GB, growing by 120 MB an hour.");
    }

    proptest! {
        #[test]
        fn noise_does_not_change_a_trend(
            per_hour in 50_000_000_i64..500_000_000,
            noise in prop::collection::vec(-4_000_000_i64..4_000_000, 61),
        ) {
            let mut samples = line(500_000_000, per_hour, 60);
            for (sample, noise) in samples.iter_mut().zip(noise) {
                sample.bytes = sample.bytes.saturating_add_signed(noise);
            }
            let found = MemoryTrend::of(&samples, ALARM).unwrap().per_hour.unwrap();
            prop_assert!((found - per_hour as f64).abs() < 12e6, "{found} for {per_hour}");
        }

        #[test]
        fn the_prediction_is_when_the_line_meets_the_alarm(
            from in 100_000_000_u64..1_500_000_000, per_hour in 50_000_000_i64..500_000_000,
        ) {
            let trend = MemoryTrend::of(&line(from, per_hour, 60), ALARM).unwrap();
            let hours = trend.until_alarm.unwrap().as_secs_f64() / 3600.0;
            let met = trend.now as f64 + hours * trend.per_hour.unwrap();
            prop_assert!((met - 2.5e9).abs() < 1e6);
        }

        #[test]
        fn any_samples_have_a_sentence(samples in prop::collection::vec((any::<u64>(), any::<u64>()), 0..20)) {
            let mut samples: Vec<MemorySample> = samples.into_iter()
                .map(|(at, bytes)| MemorySample { at: Duration::from_secs(at % 1_000_000), bytes })
                .collect();
            samples.sort_by_key(|sample| sample.at);
            if let Some(trend) = MemoryTrend::of(&samples, ALARM) {
                prop_assert!(!trend.sentence(ALARM).is_empty());
            }
        }
    }
}
