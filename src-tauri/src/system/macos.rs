//! macOS: no Dock icon, except while there is a window.

use std::time::Duration;

use evermoor_core::failure::Failure;
use tauri::{ActivationPolicy, AppHandle, RunEvent};
use tracing::warn;

use super::menu_open::Teller;
use crate::tray::icon::Backdrop;

/// A person who is logged in has a display.
pub(crate) fn check_display() -> Result<(), Failure> {
    Ok(())
}

/// With a window the application needs its menu bar and the shortcuts in it.
pub(crate) fn show_in_dock(app: &AppHandle, shown: bool) {
    let policy = if shown { ActivationPolicy::Regular } else { ActivationPolicy::Accessory };
    if let Err(error) = app.set_activation_policy(policy) {
        warn!(%error, "the Dock icon could not be changed");
    }
}

/// Launching an application that runs makes no second process; the first is told.
pub(crate) fn is_reopened(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Reopen { .. })
}

/// The menu bar colours a template itself.
pub(crate) fn backdrop() -> Backdrop {
    Backdrop::Template
}

/// There is a place for the icon.
pub(crate) async fn has_tray() -> bool {
    true
}

/// There always is one.
pub(crate) fn say_there_is_no_tray(_app: &AppHandle) {}

/// Nobody tells when the menu is closed; this long a person looks at it.
pub(crate) const LONGEST_LOOK: Duration = Duration::from_secs(20);

/// The system tells only of clicks, see [`crate::system::Opening`].
pub(crate) fn tell_openings(_teller: Teller) {}
