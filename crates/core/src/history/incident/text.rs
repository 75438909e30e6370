//! Moments, lengths of time and figures, as people read them.

use std::time::{Duration, UNIX_EPOCH};

/// A moment in the universal time of the world, to the second.
pub fn moment(millis: u64) -> String {
    // What is past the year 9999 is no time of ours; a clock that far off is shown as its end.
    const LAST: u64 = 253_402_300_799_999;
    let at = UNIX_EPOCH + Duration::from_millis(millis.min(LAST));
    humantime::format_rfc3339_seconds(at).to_string().replace('T', " ")
}

/// A length of time in its largest unit and what is left in the next.
pub fn length(millis: u64) -> String {
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

/// A length of time as people write it, such as `7d`, in milliseconds.
pub fn parse_length(text: &str) -> Option<u64> {
    let length = humantime::parse_duration(text.trim()).ok()?;
    u64::try_from(length.as_millis()).ok()
}

/// An amount of memory.
pub fn memory(bytes: u64) -> String {
    let mib = bytes / (1 << 20);
    match mib {
        0..1024 => format!("{mib} MB"),
        _ => format!("{}.{} GB", mib / 1024, mib % 1024 * 10 / 1024),
    }
}

/// So many of something.
pub fn count(number: u64, one: &str, many: &str) -> String {
    let what = if number == 1 { one } else { many };
    format!("{number} {what}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_length_has_its_largest_unit_and_what_is_left() {
        let told: Vec<String> =
            [0, 999, 1000, 61_000, 3_600_000, 90_000_000].into_iter().map(length).collect();
        assert_eq!(told, ["0 ms", "999 ms", "1 s", "1 min 1 s", "1 h", "1 d 1 h"]);
    }

    #[test]
    fn a_length_is_read_as_people_write_it() {
        assert_eq!(parse_length("7d"), Some(7 * 86_400_000));
        assert_eq!(parse_length(" 1h 30m "), Some(5_400_000));
        assert_eq!((parse_length("soon"), parse_length("")), (None, None));
    }

    #[test]
    fn memory_and_moments_are_told_as_people_read_them() {
        assert_eq!(memory(700 << 20), "700 MB");
        assert_eq!(memory(2662 << 20), "2.5 GB");
        assert_eq!(moment(1_763_215_387_512), "2025-11-15 14:03:07Z");
        assert_eq!(
            (count(1, "call", "calls"), count(2, "call", "calls")),
            ("1 call".into(), "2 calls".into())
        );
    }

    proptest! {
        #[test]
        fn any_number_can_be_told(millis: u64) {
            prop_assert!(!moment(millis).is_empty());
            prop_assert!(!length(millis).is_empty());
            prop_assert!(!memory(millis).is_empty());
        }
    }
}
