//! Which of its shapes the icon shows: the state's, except that a moment's work does not show.

use std::time::Duration;

use evermoor_core::api::Overall;
use tokio::time::Instant;

/// Reconnecting mostly takes less, and an icon that flickers is read as trouble.
const PATIENCE: Duration = Duration::from_secs(3);

/// The shape that is shown, and since when another one is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    shown: Overall,
    busy_since: Option<Instant>,
}

impl Look {
    pub(crate) fn new(state: Overall) -> Self {
        Self { shown: state, busy_since: None }
    }

    pub(crate) fn shown(self) -> Overall {
        self.shown
    }

    /// The look after this state was seen.
    pub(crate) fn seen(self, state: Overall, now: Instant) -> Self {
        if state != Overall::Busy || self.shown == Overall::Busy {
            return Self::new(state);
        }
        let since = self.busy_since.unwrap_or(now);
        let shown = if now - since >= PATIENCE { Overall::Busy } else { self.shown };
        Self { shown, busy_since: (shown != Overall::Busy).then_some(since) }
    }

    /// When it changes although nothing new is seen.
    pub(crate) fn changes_at(self) -> Option<Instant> {
        self.busy_since.map(|since| since + PATIENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_a_moment_does_not_show() {
        let began = Instant::now();
        let look = Look::new(Overall::Healthy).seen(Overall::Busy, began);
        assert_eq!(look.shown(), Overall::Healthy);
        let look = look.seen(Overall::Busy, began + PATIENCE / 2);
        assert_eq!((look.shown(), look.changes_at()), (Overall::Healthy, Some(began + PATIENCE)));
        let look = look.seen(Overall::Healthy, began + PATIENCE * 2);
        assert_eq!((look.shown(), look.changes_at()), (Overall::Healthy, None));
    }

    #[test]
    fn work_that_lasts_does() {
        let began = Instant::now();
        let look = Look::new(Overall::Degraded).seen(Overall::Busy, began);
        let look = look.seen(Overall::Busy, began + PATIENCE);
        assert_eq!((look.shown(), look.changes_at()), (Overall::Busy, None));
    }

    #[test]
    fn everything_else_shows_at_once() {
        let now = Instant::now();
        let look = Look::new(Overall::Healthy).seen(Overall::Busy, now).seen(Overall::Down, now);
        assert_eq!((look.shown(), look.changes_at()), (Overall::Down, None));
    }
}
