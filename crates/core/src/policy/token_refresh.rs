//! When an access token is renewed: before it expires, so that a call rarely meets an expired one.
//!
//! The lifetime counts from the moment of its receipt on our own clock, so it does not matter whether
//! the clock of the authorization server agrees with ours.

use std::time::{Duration, SystemTime};

/// How long an access token can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenLifetime {
    pub received: SystemTime,
    /// `None` if the authorization server did not say.
    pub length: Option<Duration>,
}

/// A token is renewed this long before it expires.
const AHEAD: Duration = Duration::from_secs(5 * 60);
/// A token that expires this soon is not sent any more: the request takes time.
const MARGIN: Duration = Duration::from_secs(5);
/// A longer lifetime is a mistake, and could not be added to a time.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// The waits after attempts that failed, the last of which is repeated.
const WAITS: [u64; 5] = [1, 2, 5, 15, 60];

impl TokenLifetime {
    /// When to renew it: five minutes before it expires, or after four fifths of a short lifetime.
    /// `None` if nobody knows when it expires.
    pub fn renew_at(&self) -> Option<SystemTime> {
        let length = self.length?.min(LONGEST);
        self.received.checked_add(length.saturating_sub(AHEAD).max(length * 4 / 5))
    }

    /// Whether it is too late to send it. A clock that was set back does not make it expire.
    pub fn is_over(&self, now: SystemTime) -> bool {
        let Some(length) = self.length else { return false };
        let age = now.duration_since(self.received).unwrap_or_default();
        age >= length.min(LONGEST).saturating_sub(MARGIN.min(length / 5))
    }
}

/// How long to wait for the next attempt after this many failed.
pub fn retry_wait(failed: usize) -> Duration {
    Duration::from_secs(WAITS[failed.saturating_sub(1).min(WAITS.len() - 1)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RECEIVED: SystemTime = SystemTime::UNIX_EPOCH;

    fn token(seconds: u64) -> TokenLifetime {
        TokenLifetime { received: RECEIVED, length: Some(Duration::from_secs(seconds)) }
    }

    #[test]
    fn a_token_is_renewed_before_it_expires() {
        let after = |seconds| RECEIVED + Duration::from_secs(seconds);
        assert_eq!(token(3600).renew_at(), Some(after(3300)));
        assert_eq!(token(600).renew_at(), Some(after(480)));
        assert_eq!(token(10).renew_at(), Some(after(8)));
        let unlimited = TokenLifetime { received: RECEIVED, length: None };
        assert_eq!(
            (unlimited.renew_at(), unlimited.is_over(after(u32::MAX.into()))),
            (None, false)
        );
    }

    #[test]
    fn a_token_that_is_about_to_expire_is_not_sent() {
        let over = |length, age| token(length).is_over(RECEIVED + Duration::from_secs(age));
        assert!(!over(3600, 3594) && over(3600, 3595));
        assert!(!over(10, 7) && over(10, 8));
        assert!(over(0, 0));
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_expire_a_token() {
        let received = RECEIVED + Duration::from_secs(86_400);
        let token = TokenLifetime { received, length: Some(Duration::from_secs(60)) };
        assert!(!token.is_over(RECEIVED));
    }

    #[test]
    fn attempts_become_rarer_and_never_stop() {
        assert_eq!(retry_wait(1), Duration::from_secs(1));
        assert_eq!(retry_wait(3), Duration::from_secs(5));
        assert_eq!(retry_wait(1_000), Duration::from_secs(60));
    }

    proptest! {
        #[test]
        fn a_token_is_renewed_while_it_can_still_be_sent(seconds in 5..u64::MAX) {
            let renewed = token(seconds).renew_at().unwrap();
            prop_assert!(!token(seconds).is_over(renewed - Duration::from_millis(1)));
        }
    }
}
