//! Filters macOS's reopen events. macOS sends one when the user opens the running application
//! again, but also after each wake from sleep, when no window should open.
//!
//! The wall clock advances during sleep and the monotonic clock does not. The first event after a
//! sleep is therefore recognised and ignored.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// Longer than a correction of the wall clock, shorter than any real sleep.
const MIN_SLEEP: Duration = Duration::from_secs(30);

/// Both clocks at the last event.
pub(crate) struct ReopenFilter {
    wall: SystemTime,
    awake: Instant,
}

impl ReopenFilter {
    pub(crate) fn new(wall: SystemTime, awake: Instant) -> Self {
        Self { wall, awake }
    }

    /// Records an event. Returns whether it comes from the user.
    pub(crate) fn is_by_user(&mut self, wall: SystemTime, awake: Instant) -> bool {
        let passed = wall.duration_since(self.wall).unwrap_or_default();
        let slept = passed.saturating_sub(awake - self.awake);
        *self = Self { wall, awake };
        slept < MIN_SLEEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_platform::clock;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn only_the_first_event_after_a_sleep_is_ignored() {
        let (wall, awake) = (clock::now(), Instant::now());
        let mut reopening = ReopenFilter::new(wall, awake);
        assert!(reopening.is_by_user(wall + HOUR, awake + HOUR));
        assert!(!reopening.is_by_user(wall + 9 * HOUR, awake + HOUR));
        assert!(reopening.is_by_user(wall + 9 * HOUR, awake + HOUR));
    }

    #[test]
    fn a_wall_clock_that_is_set_back_is_not_a_sleep() {
        let (wall, awake) = (clock::now(), Instant::now());
        let mut reopening = ReopenFilter::new(wall, awake);
        assert!(reopening.is_by_user(wall - HOUR, awake + HOUR));
    }
}
