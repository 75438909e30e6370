//! The time of day. Only this module reads it, so its users are easy to find and to test.
//!
//! The wall clock can jump: it can be set, and it advances while the machine sleeps. Use it for
//! times that users see or that are stored. Measure durations with `tokio::time::Instant`.

use std::time::{SystemTime, UNIX_EPOCH};

#[expect(clippy::disallowed_methods, reason = "the rule points to this module")]
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// Milliseconds since the Unix epoch, as in files and in the control API.
pub fn unix_millis() -> u64 {
    let since = now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
