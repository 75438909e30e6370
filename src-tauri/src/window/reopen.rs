//! Tells a person who opens the running application again from a computer that woke up: macOS
//! reports both in the same words, and nobody wants a window after each nap.
//!
//! The wall clock goes on while the computer sleeps and the process's clock does not, so the first
//! report after a sleep is known, and taken for the computer's.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// More than a correction of the wall clock, less than a nap.
const NAP: Duration = Duration::from_secs(30);

/// Both clocks at the last report.
pub(crate) struct Reopening {
    wall: SystemTime,
    awake: Instant,
}

impl Reopening {
    pub(crate) fn new(wall: SystemTime, awake: Instant) -> Self {
        Self { wall, awake }
    }

    /// Takes note of a report and says whether it is a person's.
    pub(crate) fn is_by_a_person(&mut self, wall: SystemTime, awake: Instant) -> bool {
        let passed = wall.duration_since(self.wall).unwrap_or_default();
        let slept = passed.saturating_sub(awake - self.awake);
        *self = Self { wall, awake };
        slept < NAP
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_platform::clock;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn only_the_first_report_after_a_sleep_is_the_computers() {
        let (wall, awake) = (clock::now(), Instant::now());
        let mut reopening = Reopening::new(wall, awake);
        assert!(reopening.is_by_a_person(wall + HOUR, awake + HOUR));
        assert!(!reopening.is_by_a_person(wall + 9 * HOUR, awake + HOUR));
        assert!(reopening.is_by_a_person(wall + 9 * HOUR, awake + HOUR));
    }

    #[test]
    fn a_wall_clock_set_back_is_no_sleep() {
        let (wall, awake) = (clock::now(), Instant::now());
        let mut reopening = Reopening::new(wall, awake);
        assert!(reopening.is_by_a_person(wall - HOUR, awake + HOUR));
    }
}
