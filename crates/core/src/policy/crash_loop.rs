//! Detects a program that keeps exiting.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// `LOOP_EXITS` exits within `LOOP_WINDOW` are a crash loop.
const LOOP_WINDOW: Duration = Duration::from_secs(60);
const LOOP_EXITS: usize = 5;
/// A run of this length ends a crash loop.
const STABLE_RUN: Duration = Duration::from_secs(600);
/// How often a program in a crash loop is started again, without a limit.
pub const CRASH_LOOP_RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// Detects a program that keeps exiting.
#[derive(Debug, Default)]
pub struct CrashLoop {
    exits: VecDeque<Instant>,
    looping: bool,
}

impl CrashLoop {
    /// The program exited at `now` after running for `lived`. Returns whether it is in a crash loop.
    pub fn ended(&mut self, now: Instant, lived: Duration) -> bool {
        if lived >= STABLE_RUN {
            self.exits.clear();
            self.looping = false;
        }
        self.exits.push_back(now);
        while self.exits.front().is_some_and(|exit| now.duration_since(*exit) > LOOP_WINDOW) {
            self.exits.pop_front();
        }
        self.looping |= self.exits.len() >= LOOP_EXITS;
        self.looping
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Instant {
        #[expect(clippy::disallowed_methods, reason = "any starting point will do")]
        Instant::now()
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn five_exits_in_a_minute_are_a_crash_loop_and_four_are_not() {
        let now = start();
        let mut exits = CrashLoop::default();
        let looping: Vec<bool> = (0..5).map(|n| exits.ended(now + SECOND * n, SECOND)).collect();
        assert_eq!(looping, [false, false, false, false, true]);
    }

    #[test]
    fn only_a_long_run_ends_a_crash_loop() {
        let now = start();
        let mut exits = CrashLoop::default();
        for n in 0..5 {
            exits.ended(now + SECOND * n, SECOND);
        }
        assert!(exits.ended(now + SECOND * 200, SECOND * 100));
        assert!(!exits.ended(now + SECOND * 900, SECOND * 600));
    }
}
