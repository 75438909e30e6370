//! What a click on a notification does.

use evermoor_core::policy::alerts::{Alert, AlertButton, AlertTarget, TrayAction};
use evermoor_platform::clock;
use jiff::Zoned;
use tauri::AppHandle;

use super::notifier::ClickTarget;
use crate::actions::{restart, sign_in};
use crate::window;
use crate::window::page::Page;

pub(super) fn perform(app: &AppHandle, alert: &Alert, target: ClickTarget) {
    let about = alert.about.iter().cloned();
    match target {
        ClickTarget::Button(AlertButton::Restart | AlertButton::RestartAll) => {
            about.for_each(|upstream| restart::restart(app, upstream));
        }
        ClickTarget::Button(AlertButton::IgnoreForToday) => {
            // If the clock is outside the calendar's range, nothing is ignored.
            let until = Zoned::try_from(clock::now()).map_or(0, |now| tomorrow(&now));
            about.for_each(|upstream| {
                super::record_action(app, TrayAction::Ignore { upstream, until })
            });
        }
        ClickTarget::Button(AlertButton::SignIn) => {
            about.for_each(|upstream| sign_in::sign_in(app, upstream));
        }
        ClickTarget::Button(AlertButton::Details | AlertButton::OpenLog) | ClickTarget::Notice => {
            window::open_at(app, &page(&alert.target));
        }
    }
}

fn page(target: &AlertTarget) -> Page {
    match target {
        AlertTarget::Overview => Page::Overview,
        AlertTarget::Editors => Page::Editors,
        AlertTarget::Settings => Page::Settings,
        AlertTarget::Upstream(name) => Page::Upstream(name.clone()),
        AlertTarget::Restart(name) => Page::Restart(name.clone()),
        AlertTarget::Log(name) => Page::Log(name.clone()),
    }
}

/// The end of the current day, as Unix time in milliseconds.
fn tomorrow(now: &Zoned) -> u64 {
    let midnight = now.tomorrow().and_then(|day| day.start_of_day());
    // Outside the calendar's range, nothing is ignored.
    let midnight = midnight.map_or(0, |midnight| midnight.timestamp().as_millisecond());
    u64::try_from(midnight).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buttons_that_open_the_window_are_those_that_bring_the_application_to_the_front() {
        let opening = AlertButton::ALL.into_iter().filter(|button| button.opens_window());
        let opening: Vec<_> = opening.collect();
        assert_eq!(opening, [AlertButton::Details, AlertButton::OpenLog]);
    }

    #[test]
    fn today_ends_at_local_midnight() {
        let now: Zoned = "2026-03-28T23:30:00+01:00[Europe/Berlin]".parse().unwrap();
        let midnight: Zoned = "2026-03-29T00:00:00+01:00[Europe/Berlin]".parse().unwrap();
        assert_eq!(tomorrow(&now), midnight.timestamp().as_millisecond() as u64);
    }
}
