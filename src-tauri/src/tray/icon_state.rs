//! Which of its shapes the icon shows: the state's, except that a moment's work does not show.

use std::time::Duration;

use evermoor_core::api::OverallState;
use tokio::time::Instant;

/// Reconnecting mostly takes less, and an icon that flickers is read as trouble.
const PATIENCE: Duration = Duration::from_secs(3);

/// The shape that is shown, and since when another one is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    shown: OverallState,
    busy_since: Option<Instant>,
}

impl Look {
    pub(crate) fn new(state: OverallState) -> Self {
        Self { shown: state, busy_since: None }
    }

    pub(crate) fn shown(self) -> OverallState {
        self.shown
    }

    /// The look after this state was seen.
    pub(crate) fn seen(self, state: OverallState, now: Instant) -> Self {
        if state != OverallState::Busy || self.shown == OverallState::Busy {
            return Self::new(state);
        }
        let since = self.busy_since.unwrap_or(now);
        let shown = if now - since >= PATIENCE { OverallState::Busy } else { self.shown };
        Self { shown, busy_since: (shown != OverallState::Busy).then_some(since) }
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
        let look = Look::new(OverallState::Healthy).seen(OverallState::Busy, began);
        assert_eq!(look.shown(), OverallState::Healthy);
        let look = look.seen(OverallState::Busy, began + PATIENCE / 2);
        assert_eq!(
            (look.shown(), look.changes_at()),
            (OverallState::Healthy, Some(began + PATIENCE))
        );
        let look = look.seen(OverallState::Healthy, began + PATIENCE * 2);
        assert_eq!((look.shown(), look.changes_at()), (OverallState::Healthy, None));
    }

    #[test]
    fn work_that_lasts_does() {
        let began = Instant::now();
        let look = Look::new(OverallState::Degraded).seen(OverallState::Busy, began);
        let look = look.seen(OverallState::Busy, began + PATIENCE);
        assert_eq!((look.shown(), look.changes_at()), (OverallState::Busy, None));
    }

    #[test]
    fn everything_else_shows_at_once() {
        let now = Instant::now();
        let look = Look::new(OverallState::Healthy)
            .seen(OverallState::Busy, now)
            .seen(OverallState::Down, now);
        assert_eq!((look.shown(), look.changes_at()), (OverallState::Down, None));
    }
}
