//! Times, durations and amounts as text for users.

use std::time::{Duration, UNIX_EPOCH};

/// A time in UTC, to the second.
pub fn format_time(millis: u64) -> String {
    // The formatter supports years up to 9999.
    const LAST: u64 = 253_402_300_799_999;
    let at = UNIX_EPOCH + Duration::from_millis(millis.min(LAST));
    humantime::format_rfc3339_seconds(at).to_string().replace('T', " ")
}

/// A duration in its two largest units, such as "1 h 20 min".
pub fn format_duration(millis: u64) -> String {
    let seconds = millis / 1000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let (first, second) = match (days, hours, minutes, seconds % 60) {
        (0, 0, 0, 0) => ((millis, "ms"), (0, "")),
        (0, 0, 0, seconds) => ((seconds, "s"), (0, "")),
        (0, 0, minutes, seconds) => ((minutes, "min"), (seconds, "s")),
        (0, hours, minutes, _) => ((hours, "h"), (minutes, "min")),
        (days, hours, ..) => ((days, "d"), (hours, "h")),
    };
    match second {
        (0, _) => format!("{} {}", first.0, first.1),
        (number, unit) => format!("{} {} {number} {unit}", first.0, first.1),
    }
}

/// Parses a duration such as `7d` into milliseconds.
pub fn parse_duration(text: &str) -> Option<u64> {
    let length = humantime::parse_duration(text.trim()).ok()?;
    u64::try_from(length.as_millis()).ok()
}

/// An amount of memory.
pub fn format_memory(bytes: u64) -> String {
    let mib = bytes / (1 << 20);
    match mib {
        0..1024 => format!("{mib} MB"),
        _ => format!("{}.{} GB", mib / 1024, mib % 1024 * 10 / 1024),
    }
}

/// A number with a noun in singular or plural.
pub fn count(number: u64, one: &str, many: &str) -> String {
    let what = if number == 1 { one } else { many };
    format!("{number} {what}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_duration_has_its_two_largest_units() {
        let texts: Vec<String> = [0, 999, 1000, 61_000, 3_600_000, 90_000_000]
            .into_iter()
            .map(format_duration)
            .collect();
        assert_eq!(texts, ["0 ms", "999 ms", "1 s", "1 min 1 s", "1 h", "1 d 1 h"]);
    }

    #[test]
    fn durations_are_parsed_as_people_write_them() {
        assert_eq!(parse_duration("7d"), Some(7 * 86_400_000));
        assert_eq!(parse_duration(" 1h 30m "), Some(5_400_000));
        assert_eq!((parse_duration("soon"), parse_duration("")), (None, None));
    }

    #[test]
    fn memory_times_and_counts_are_readable() {
        assert_eq!(format_memory(700 << 20), "700 MB");
        assert_eq!(format_memory(2662 << 20), "2.5 GB");
        assert_eq!(format_time(1_763_215_387_512), "2025-11-15 14:03:07Z");
        assert_eq!(
            (count(1, "call", "calls"), count(2, "call", "calls")),
            ("1 call".into(), "2 calls".into())
        );
    }

    proptest! {
        #[test]
        fn any_number_can_be_formatted(millis: u64) {
            prop_assert!(!format_time(millis).is_empty());
            prop_assert!(!format_duration(millis).is_empty());
            prop_assert!(!format_memory(millis).is_empty());
        }
    }
}
