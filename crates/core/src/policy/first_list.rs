//! How long the list of an upstream that was never connected waits for it.
//!
//! Some clients read a list again when they are told that it changed. They get an empty list at once.
//! Others use the first list for the whole session, so theirs waits while the upstream starts, but not
//! so long that the client gives up on the server.

use std::time::Duration;

/// How a client treats lists and slow servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListHabits {
    /// It reads a list again when it is told that the list changed.
    pub rereads: bool,
    /// How long it waits for a server to start.
    pub start_limit: Duration,
}

/// Whether waiting may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// The first attempt to connect is in progress.
    Starting,
    /// It is down, and may come back at any time.
    Down,
    /// Only a user can make it available.
    NeedsPerson,
}

/// How long a list may take if the client reads it again, or if the upstream is not starting.
const SOON: Duration = Duration::from_millis(1500);
/// What is left of a client's start limit for everything else.
const MARGIN: Duration = Duration::from_secs(2);

impl ListHabits {
    /// A client that nobody has tried. Most of these use an SDK that waits longer.
    pub const UNKNOWN: Self = Self { rereads: false, start_limit: Duration::from_secs(30) };

    /// How long a list may wait altogether. `connected` is how long the client has been connected.
    pub fn longest_wait(self, outlook: Outlook, connected: Duration) -> Duration {
        match outlook {
            Outlook::NeedsPerson => Duration::ZERO,
            Outlook::Starting if !self.rereads => {
                self.start_limit.saturating_sub(MARGIN + connected).max(SOON)
            }
            Outlook::Starting | Outlook::Down => SOON,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REREADS: ListHabits = ListHabits { rereads: true, start_limit: Duration::from_secs(60) };
    const NOW: Duration = Duration::ZERO;

    #[test]
    fn a_client_that_reads_lists_again_gets_one_within_two_seconds() {
        for outlook in [Outlook::Starting, Outlook::Down, Outlook::NeedsPerson] {
            assert!(REREADS.longest_wait(outlook, NOW) < Duration::from_secs(2));
        }
    }

    #[test]
    fn another_client_waits_for_a_server_that_starts_until_shortly_before_it_gives_up() {
        let wait = |connected| {
            let connected = Duration::from_secs(connected);
            ListHabits::UNKNOWN.longest_wait(Outlook::Starting, connected).as_millis()
        };
        assert_eq!([wait(0), wait(5), wait(27), wait(9000)], [28_000, 23_000, 1500, 1500]);
    }

    #[test]
    fn nobody_waits_long_for_a_server_that_does_not_start() {
        let wait = |outlook| ListHabits::UNKNOWN.longest_wait(outlook, NOW);
        assert!(wait(Outlook::Down) < Duration::from_secs(2));
        assert_eq!(wait(Outlook::NeedsPerson), Duration::ZERO);
    }
}
