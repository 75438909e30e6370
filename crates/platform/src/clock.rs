//! The time of day. Nothing else reads it, so that whoever depends on it can be found and tested.
//!
//! A wall clock jumps: it is set, and it goes on while the machine sleeps. It is for moments that
//! people see or that are kept on the disk. Lengths of time are measured with `tokio::time::Instant`.

use std::time::{SystemTime, UNIX_EPOCH};

#[expect(clippy::disallowed_methods, reason = "this is the place the rule points to")]
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// The time of day in milliseconds of the Unix epoch, as files and the control API have it.
pub fn unix_millis() -> u64 {
    let since = now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
