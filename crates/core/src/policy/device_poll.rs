//! How often the authorization server is asked whether the user has entered the code of a sign-in
//! (RFC 8628), and how long the code is waited for. The server says both; what would ask it without
//! end, or too often, is bounded.

use std::time::Duration;

/// The wait before the next question, if the server asked for this one. It is never shorter than asked,
/// unless it is longer than [`LONGEST_WAIT`].
pub fn wait(asked: Duration) -> Duration {
    asked.clamp(SHORTEST_WAIT, LONGEST_WAIT)
}

/// How long the code is waited for, if the server says that it lives this long.
pub fn lifetime(said: Duration) -> Duration {
    said.min(LONGEST_LIFETIME)
}

/// A server that says 0 is not asked without a pause.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait, even after many requests to slow down and attempts without an answer: the user has
/// entered the code and wants to see the effect.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Nobody enters a code after a longer time.
const LONGEST_LIFETIME: Duration = Duration::from_secs(60 * 60);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_server_is_asked_as_rarely_as_it_wants_within_bounds(asked: u64) {
            let asked = Duration::from_secs(asked);
            let wait = wait(asked);
            prop_assert!(wait >= asked.min(LONGEST_WAIT));
            prop_assert!((SHORTEST_WAIT..=LONGEST_WAIT).contains(&wait));
        }

        #[test]
        fn a_code_is_not_waited_for_after_it_has_expired(said: u64) {
            let said = Duration::from_secs(said);
            prop_assert!(lifetime(said) <= said && lifetime(said) <= LONGEST_LIFETIME);
        }
    }
}
