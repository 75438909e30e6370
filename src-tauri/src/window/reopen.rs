//! Which of macOS's reopen events are the user's. macOS sends one when the user opens the running
//! application again, but also up to two after a wake from sleep, and one when a notification is
//! pressed. No window should open for those.
//!
//! Events are ignored for a while after a wake and for a moment after a press. The system reports a
//! wake, but an event can come first. Such an event is recognised by the clocks: the wall clock
//! advances during sleep and the monotonic clock does not.

use std::time::{Duration, SystemTime};

use evermoor_platform::clock;
use parking_lot::Mutex;
use tauri::{AppHandle, Manager};
use tokio::time::Instant;

/// How long events are ignored after a wake. The user's own click is lost for no longer.
const AFTER_WAKE: Duration = Duration::from_secs(30);
/// How long events are ignored after a notification was pressed.
const AFTER_PRESS: Duration = Duration::from_secs(1);
/// Longer than a correction of the wall clock, shorter than a sleep that matters.
const MIN_SLEEP: Duration = Duration::from_secs(30);

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug)]
struct Moment {
    wall: SystemTime,
    awake: Instant,
}

/// What happened before a reopen event.
#[derive(Debug)]
struct Record {
    /// The last time at which it was known whether the machine had slept.
    checked: Moment,
    woke: Option<Instant>,
    pressed: Option<Instant>,
}

/// The record of this application.
pub(crate) struct ReopenFilter(Mutex<Record>);

impl Default for ReopenFilter {
    fn default() -> Self {
        Self(Mutex::new(Record::new(Moment::now())))
    }
}

impl ReopenFilter {
    /// Records a reopen event. Returns whether it comes from the user.
    pub(crate) fn is_by_user(&self) -> bool {
        self.0.lock().is_by_user(Moment::now())
    }
}

/// The machine woke, or its screens did.
pub(crate) fn woke(app: &AppHandle) {
    app.state::<ReopenFilter>().0.lock().woke(Moment::now());
}

/// The user pressed a notification.
pub(crate) fn notification_pressed(app: &AppHandle) {
    app.state::<ReopenFilter>().0.lock().pressed(Moment::now());
}

impl Moment {
    fn now() -> Self {
        Self { wall: clock::now(), awake: Instant::now() }
    }

    /// How long the machine slept since another moment.
    fn slept_since(self, before: Self) -> Duration {
        let passed = self.wall.duration_since(before.wall).unwrap_or_default();
        passed.saturating_sub(self.awake - before.awake)
    }
}

impl Record {
    fn new(checked: Moment) -> Self {
        Self { checked, woke: None, pressed: None }
    }

    fn woke(&mut self, now: Moment) {
        (self.checked, self.woke) = (now, Some(now.awake));
    }

    fn pressed(&mut self, now: Moment) {
        self.pressed = Some(now.awake);
    }

    fn is_by_user(&mut self, now: Moment) -> bool {
        if now.slept_since(self.checked) >= MIN_SLEEP {
            self.woke(now);
        }
        self.checked = now;
        let within = |since: Option<Instant>, limit| since.is_some_and(|it| now.awake - it < limit);
        !within(self.woke, AFTER_WAKE) && !within(self.pressed, AFTER_PRESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const SECOND: Duration = Duration::from_secs(1);

    impl Moment {
        fn after(self, awake: Duration) -> Self {
            self.after_sleep(Duration::ZERO, awake)
        }

        fn after_sleep(self, asleep: Duration, awake: Duration) -> Self {
            Self { wall: self.wall + asleep + awake, awake: self.awake + awake }
        }
    }

    #[test]
    fn an_event_without_a_wake_or_a_press_is_the_users() {
        let start = Moment::now();
        let mut record = Record::new(start);
        assert!(record.is_by_user(start));
        assert!(record.is_by_user(start.after(HOUR)));
    }

    #[test]
    fn both_events_after_a_reported_wake_are_ignored() {
        let start = Moment::now();
        let mut record = Record::new(start);
        let woke = start.after_sleep(8 * HOUR, SECOND);
        record.woke(woke);
        assert!(!record.is_by_user(woke.after(SECOND)));
        assert!(!record.is_by_user(woke.after(5 * SECOND)));
        assert!(record.is_by_user(woke.after(AFTER_WAKE)));
    }

    #[test]
    fn an_event_that_comes_before_the_report_of_the_wake_is_ignored() {
        let start = Moment::now();
        let mut record = Record::new(start);
        let woke = start.after_sleep(8 * HOUR, SECOND);
        assert!(!record.is_by_user(woke));
        assert!(!record.is_by_user(woke.after(SECOND)));
        record.woke(woke.after(2 * SECOND));
        assert!(!record.is_by_user(woke.after(3 * SECOND)));
        assert!(record.is_by_user(woke.after(40 * SECOND)));
    }

    #[test]
    fn a_click_long_after_a_wake_is_the_users() {
        let start = Moment::now();
        let mut record = Record::new(start);
        let woke = start.after_sleep(8 * HOUR, SECOND);
        record.woke(woke);
        assert!(record.is_by_user(woke.after(HOUR)));
    }

    #[test]
    fn a_nap_too_short_for_the_clocks_counts_if_it_is_reported() {
        let start = Moment::now();
        let mut record = Record::new(start);
        let woke = start.after_sleep(10 * SECOND, SECOND);
        record.woke(woke);
        assert!(!record.is_by_user(woke.after(SECOND)));
    }

    #[test]
    fn an_event_right_after_a_press_belongs_to_the_notification() {
        let start = Moment::now();
        let mut record = Record::new(start);
        let pressed = start.after(HOUR);
        record.pressed(pressed);
        assert!(!record.is_by_user(pressed.after(SECOND / 2)));
        assert!(record.is_by_user(pressed.after(AFTER_PRESS)));
    }

    #[test]
    fn a_wall_clock_that_is_set_back_is_not_a_sleep() {
        let start = Moment::now();
        let mut record = Record::new(start);
        let later = start.after(HOUR);
        assert!(record.is_by_user(Moment { wall: start.wall - HOUR, ..later }));
    }
}
