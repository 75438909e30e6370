//! What a press on a notice does.

use evermoor_core::alerts::{Act, Button, Notice};
use jiff::Zoned;
use tauri::{AppHandle, Manager};

use super::notifier::Pressed;
use crate::gateway::Gateway;
use crate::window;

/// Does it, and says what the person thereby did.
pub(super) fn perform(app: &AppHandle, notice: &Notice, pressed: Pressed) -> Vec<Act> {
    match pressed {
        Pressed::Button(Button::Restart | Button::RestartAll) => {
            let restarted = notice.about.iter().cloned().map(|upstream| {
                app.state::<Gateway>().restart(upstream.clone());
                Act::Restart(upstream)
            });
            restarted.collect()
        }
        Pressed::Button(Button::IgnoreForToday) => {
            let until = tomorrow(&Zoned::now());
            let ignored = notice.about.iter().cloned();
            ignored.map(|upstream| Act::Ignore { upstream, until }).collect()
        }
        Pressed::Button(Button::Details | Button::OpenLog | Button::SignIn) | Pressed::Notice => {
            window::open_at(app, Some(notice.leads_to.page()));
            Vec::new()
        }
    }
}

/// When the day of this moment is over, in milliseconds of the Unix epoch.
fn tomorrow(now: &Zoned) -> u64 {
    let midnight = now.tomorrow().and_then(|day| day.start_of_day());
    // No calendar ends tomorrow; if one does, nothing is ignored.
    let midnight = midnight.map_or(0, |midnight| midnight.timestamp().as_millisecond());
    u64::try_from(midnight).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn today_ends_at_midnight_where_the_person_is() {
        let now: Zoned = "2026-03-28T23:30:00+01:00[Europe/Berlin]".parse().unwrap();
        let midnight: Zoned = "2026-03-29T00:00:00+01:00[Europe/Berlin]".parse().unwrap();
        assert_eq!(tomorrow(&now), midnight.timestamp().as_millisecond() as u64);
    }
}
