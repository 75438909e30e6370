//! Which image the icon shows: the one for the current state, except that a short busy period does
//! not change it.

use std::time::Duration;

use evermoor_core::api::OverallState;
use tokio::time::Instant;

/// Reconnecting usually takes less time, and a flickering icon looks like a problem.
const BUSY_DELAY: Duration = Duration::from_secs(3);

/// The state that is shown, and since when the gateway has been busy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IconState {
    shown: OverallState,
    busy_since: Option<Instant>,
}

impl IconState {
    pub(crate) fn new(state: OverallState) -> Self {
        Self { shown: state, busy_since: None }
    }

    pub(crate) fn shown(self) -> OverallState {
        self.shown
    }

    /// The icon state after the gateway reported `state`.
    pub(crate) fn next(self, state: OverallState, now: Instant) -> Self {
        if state != OverallState::Busy || self.shown == OverallState::Busy {
            return Self::new(state);
        }
        let since = self.busy_since.unwrap_or(now);
        let shown = if now - since >= BUSY_DELAY { OverallState::Busy } else { self.shown };
        Self { shown, busy_since: (shown != OverallState::Busy).then_some(since) }
    }

    /// When the icon changes even if the state does not.
    pub(crate) fn changes_at(self) -> Option<Instant> {
        self.busy_since.map(|since| since + BUSY_DELAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_busy_period_does_not_change_the_icon() {
        let began = Instant::now();
        let icon = IconState::new(OverallState::Healthy).next(OverallState::Busy, began);
        assert_eq!(icon.shown(), OverallState::Healthy);
        let icon = icon.next(OverallState::Busy, began + BUSY_DELAY / 2);
        assert_eq!(
            (icon.shown(), icon.changes_at()),
            (OverallState::Healthy, Some(began + BUSY_DELAY))
        );
        let icon = icon.next(OverallState::Healthy, began + BUSY_DELAY * 2);
        assert_eq!((icon.shown(), icon.changes_at()), (OverallState::Healthy, None));
    }

    #[test]
    fn a_long_busy_period_changes_the_icon() {
        let began = Instant::now();
        let icon = IconState::new(OverallState::Degraded).next(OverallState::Busy, began);
        let icon = icon.next(OverallState::Busy, began + BUSY_DELAY);
        assert_eq!((icon.shown(), icon.changes_at()), (OverallState::Busy, None));
    }

    #[test]
    fn every_other_state_shows_at_once() {
        let now = Instant::now();
        let icon = IconState::new(OverallState::Healthy)
            .next(OverallState::Busy, now)
            .next(OverallState::Down, now);
        assert_eq!((icon.shown(), icon.changes_at()), (OverallState::Down, None));
    }
}
