//! When a held call is given up, even if the laptop slept in the meantime.

use std::time::{Duration, Instant, SystemTime};

/// A deadline that passes when either clock reaches it.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    pub steady: Instant,
    pub wall: SystemTime,
}

impl Deadline {
    pub fn after(now: Instant, wall: SystemTime, wait: Duration) -> Self {
        Self { steady: now + wait, wall: wall + wait }
    }

    pub fn passed(&self, now: Instant, wall: SystemTime) -> bool {
        now >= self.steady || wall >= self.wall
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn start() -> (Instant, SystemTime) {
        #[expect(clippy::disallowed_methods, reason = "any starting point will do")]
        (Instant::now(), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000))
    }

    #[test]
    fn setting_the_wall_clock_back_passes_no_deadline() {
        let (now, wall) = start();
        let deadline = Deadline::after(now, wall, SECOND * 25);
        assert!(!deadline.passed(now + SECOND, wall - SECOND * 3600));
    }

    #[test]
    fn a_deadline_passes_on_either_clock() {
        let (now, wall) = start();
        let deadline = Deadline::after(now, wall, SECOND * 25);
        assert!(!deadline.passed(now + SECOND * 24, wall + SECOND * 24));
        assert!(deadline.passed(now + SECOND * 25, wall));
        assert!(deadline.passed(now, wall + SECOND * 28_800));
    }
}
