//! The `Retry-After` header of a server that is busy.

use std::time::{Duration, SystemTime};

/// The wait in a `Retry-After` header, given in seconds or as a date, and at most `max`. `None` if
/// the header is malformed.
pub fn retry_after(header: &str, wall: SystemTime, max: Duration) -> Option<Duration> {
    let asked = match header.trim().parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => http_date(header.trim())?.duration_since(wall).unwrap_or_default(),
    };
    Some(asked.min(max))
}

/// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, the only date format that servers may still send.
fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let parts: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = parts.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name == month)? + 1;
    humantime::parse_rfc3339(&format!("{year}-{month:02}-{day}T{time}Z")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn retry_after_is_seconds_or_a_date_and_limited() {
        let wall = humantime::parse_rfc3339("1994-11-06T08:49:30Z").unwrap();
        let max = Duration::from_secs(60);
        assert_eq!(retry_after("2", wall, max), Some(SECOND * 2));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", wall, max), Some(SECOND * 7));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:00:00 GMT", wall, max), Some(Duration::ZERO));
        assert_eq!(retry_after("99999", wall, max), Some(max));
        assert_eq!(retry_after("soon", wall, max), None);
    }
}
