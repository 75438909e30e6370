//! Detects that the machine slept and woke.

use std::time::{Duration, Instant, SystemTime};

/// Detects a sleep by comparing the wall clock with the monotonic clock.
#[derive(Clone, Copy, Debug)]
struct ClockJump {
    last: (Instant, SystemTime),
}

/// A smaller difference between the clocks is a clock adjustment, not a sleep.
const MIN_JUMP: Duration = Duration::from_secs(3);

impl ClockJump {
    fn new(now: Instant, wall: SystemTime) -> Self {
        Self { last: (now, wall) }
    }

    /// How long the machine slept since the last call, if it did. `expected` is the intended time
    /// between the two calls.
    fn look(&mut self, now: Instant, wall: SystemTime, expected: Duration) -> Option<Duration> {
        let (then, then_wall) = std::mem::replace(&mut self.last, (now, wall));
        let monotonic = now.duration_since(then);
        let passed = wall.duration_since(then_wall).unwrap_or(monotonic).max(monotonic);
        let slept = passed.saturating_sub(expected);
        (slept >= MIN_JUMP).then_some(slept)
    }
}

/// Reports each wake once, whether the clocks or the system notice it first.
#[derive(Clone, Copy, Debug)]
pub struct WakeDetector {
    clocks: ClockJump,
    /// The last wake that was reported, unless the system has announced another sleep since.
    woke: Option<(Instant, WakeSource)>,
}

/// What noticed a wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WakeSource {
    Clocks,
    System,
}

/// A wake that the system and the clocks notice within this time is the same wake.
const SAME_SLEEP: Duration = Duration::from_secs(10);

impl WakeDetector {
    pub fn new(now: Instant, wall: SystemTime) -> Self {
        Self { clocks: ClockJump::new(now, wall), woke: None }
    }

    /// The system is about to sleep, so the next wake is a new one.
    pub fn going_to_sleep(&mut self) {
        self.woke = None;
    }

    /// The system reports a wake. Returns whether it is a new one.
    pub fn woke(&mut self, now: Instant, wall: SystemTime) -> bool {
        // The clocks must not report the same sleep again.
        self.clocks = ClockJump::new(now, wall);
        let is_new = self.woke.is_none_or(|(then, _)| now.duration_since(then) >= SAME_SLEEP);
        if is_new {
            self.woke = Some((now, WakeSource::System));
        }
        is_new
    }

    /// Compares both clocks. Returns how long the machine slept, if that is a new sleep. `expected`
    /// is the intended time since the last call.
    pub fn look(&mut self, now: Instant, wall: SystemTime, expected: Duration) -> Option<Duration> {
        let slept = self.clocks.look(now, wall, expected)?;
        let is_known = self.woke.is_some_and(|(then, source)| {
            // The wall clock may be corrected only a moment after the system reported the wake.
            source == WakeSource::System && now.duration_since(then) < SAME_SLEEP
        });
        if is_known {
            return None;
        }
        self.woke = Some((now, WakeSource::Clocks));
        Some(slept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> (Instant, SystemTime) {
        #[expect(clippy::disallowed_methods, reason = "any starting point will do")]
        (Instant::now(), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000))
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_wall_clock_that_jumps_ahead_means_that_the_machine_slept() {
        let (now, wall) = start();
        let mut watch = ClockJump::new(now, wall);
        assert_eq!(watch.look(now + SECOND, wall + SECOND, SECOND), None);
        let slept = watch.look(now + SECOND * 2, wall + SECOND * 28_802, SECOND);
        assert_eq!(slept, Some(Duration::from_secs(28_800)));
    }

    #[test]
    fn setting_the_wall_clock_back_is_no_sleep() {
        let (now, wall) = start();
        let mut watch = ClockJump::new(now, wall);
        assert_eq!(watch.look(now + SECOND, wall - SECOND * 3600, SECOND), None);
    }

    const NIGHT: Duration = Duration::from_secs(28_800);

    #[test]
    fn a_wake_is_reported_once_whether_the_system_or_the_clocks_notice_it_first() {
        let (now, wall) = start();
        let mut sleeps = WakeDetector::new(now, wall);
        sleeps.going_to_sleep();
        assert!(sleeps.woke(now + SECOND, wall + NIGHT));
        assert!(!sleeps.woke(now + SECOND * 2, wall + NIGHT), "some systems report it twice");
        let found = sleeps.look(now + SECOND * 4, wall + NIGHT + SECOND * 3, SECOND * 2);
        assert_eq!(found, None);

        let mut sleeps = WakeDetector::new(now, wall);
        sleeps.going_to_sleep();
        assert!(sleeps.look(now + SECOND, wall + NIGHT, SECOND).is_some());
        assert!(!sleeps.woke(now + SECOND * 2, wall + NIGHT + SECOND));
    }

    #[test]
    fn a_wall_clock_corrected_after_the_wake_is_the_same_sleep() {
        let (now, wall) = start();
        let mut sleeps = WakeDetector::new(now, wall);
        assert!(sleeps.woke(now + SECOND, wall + SECOND));
        assert_eq!(sleeps.look(now + SECOND * 3, wall + NIGHT, SECOND * 2), None);
        assert!(sleeps.look(now + SECOND * 5, wall + NIGHT * 2, SECOND * 2).is_none());
        assert!(sleeps.look(now + SECOND * 20, wall + NIGHT * 3, SECOND * 15).is_some());
    }

    #[test]
    fn the_next_wake_is_reported_however_soon_it_comes() {
        let (now, wall) = start();
        let mut sleeps = WakeDetector::new(now, wall);
        assert!(sleeps.woke(now + SECOND, wall + NIGHT));
        sleeps.going_to_sleep();
        assert!(sleeps.woke(now + SECOND * 2, wall + NIGHT * 2));
        sleeps.going_to_sleep();
        assert!(sleeps.look(now + SECOND * 3, wall + NIGHT * 3, SECOND).is_some());
        assert!(sleeps.look(now + SECOND * 4, wall + NIGHT * 4, SECOND).is_some());
    }
}
