//! How long to wait before the next connection attempt. The supervisor waits less while a call is held.
//!
//! Exponential backoff with full jitter: a random wait between zero and a ceiling that doubles with
//! each attempt. Clients of a server that restarts do not all reconnect in the same millisecond.

use std::time::Duration;

use crate::failure::Code;

/// The first and the longest ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
}

impl Backoff {
    /// For an upstream on this machine, which comes back fast and is cheap to probe.
    pub const LOCAL: Self =
        Self { first: Duration::from_millis(100), longest: Duration::from_secs(5) };
    /// For a remote upstream.
    pub const REMOTE: Self =
        Self { first: Duration::from_millis(100), longest: Duration::from_secs(60) };

    /// For what only the user can change. The command with which they do it also ends the wait.
    pub const USER: Self = Self { first: Duration::from_secs(5), longest: Duration::from_secs(60) };

    /// The backoff after a failure of an upstream whose own backoff is `upstream`. The keychain is on
    /// this machine, wherever the server is.
    pub fn after(code: Code, upstream: Self) -> Self {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the others are about the server")]
        match code {
            Code::KeychainRefused => Self::USER,
            Code::KeychainLocked | Code::KeychainMissing | Code::SecretMissing => Self::LOCAL,
            _ => upstream,
        }
    }

    /// The wait before attempt `attempt`, counted from 0. `random` is uniform over all of `u32`.
    pub fn wait(self, attempt: u32, random: u32) -> Duration {
        self.ceiling(attempt).mul_f64(f64::from(random) / f64::from(u32::MAX))
    }

    /// The longest wait. A connection that lasts this long counts as recovered.
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
        fn no_wait_is_longer_than_the_longest(attempt: u32, random: u32) {
            prop_assert!(Backoff::REMOTE.wait(attempt, random) <= Backoff::REMOTE.longest());
        }
    }

    #[test]
    fn a_keychain_that_refused_is_asked_rarely_and_a_locked_one_often() {
        let after = |code| Backoff::after(code, Backoff::REMOTE);
        assert_eq!(after(Code::KeychainRefused), Backoff::USER);
        assert_eq!(after(Code::KeychainLocked), Backoff::LOCAL);
        assert_eq!(after(Code::SecretMissing), Backoff::LOCAL);
        assert_eq!(after(Code::Timeout), Backoff::REMOTE);
        let ten = |backoff: Backoff| (0..10).map(|n| backoff.wait(n, u32::MAX)).sum::<Duration>();
        assert!(ten(Backoff::USER) > 10 * ten(Backoff::LOCAL));
    }
}
