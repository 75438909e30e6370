//! How long to wait before the next attempt.
//!
//! Full jitter: any time between nothing and a ceiling that doubles. A hundred clients of a server
//! that restarts do not come back in the same millisecond, and the mean wait is half the ceiling.

use std::time::Duration;

/// The bounds of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
}

impl Backoff {
    /// For an upstream on this machine: it comes back fast, and asking costs nothing.
    pub const LOCAL: Self =
        Self { first: Duration::from_millis(100), longest: Duration::from_secs(5) };
    /// For an upstream elsewhere.
    pub const REMOTE: Self =
        Self { first: Duration::from_millis(100), longest: Duration::from_secs(60) };

    /// The wait before attempt `attempt` (the first is 0), with `dice` from the whole range of u32.
    pub fn wait(self, attempt: u32, dice: u32) -> Duration {
        self.ceiling(attempt).mul_f64(f64::from(dice) / f64::from(u32::MAX))
    }

    /// The longest wait; also how long a connection must have lived to count as recovered.
    pub fn longest(self) -> Duration {
        self.longest
    }

    fn ceiling(self, attempt: u32) -> Duration {
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(attempt.min(31)));
        doubled.min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ceiling_doubles_up_to_the_longest_wait() {
        let ceilings: Vec<u128> =
            (0..8).map(|attempt| Backoff::LOCAL.wait(attempt, u32::MAX).as_millis()).collect();
        assert_eq!(ceilings, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    }

    proptest! {
        #[test]
        fn no_wait_is_longer_than_the_longest(attempt: u32, dice: u32) {
            prop_assert!(Backoff::REMOTE.wait(attempt, dice) <= Backoff::REMOTE.longest());
        }
    }
}
