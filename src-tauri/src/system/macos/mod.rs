//! macOS: the application has a Dock icon only while its window is open.

use std::time::Duration;

use evermoor_core::failure::Failure;
use tauri::{ActivationPolicy, AppHandle, RunEvent};
use tracing::warn;

use super::menu_open::MenuOpenReporter;
use crate::tray::icon::Backdrop;

/// A logged-in user always has a display.
pub(crate) fn check_display() -> Result<(), Failure> {
    Ok(())
}

/// With a window open, the application needs its menu bar and keyboard shortcuts.
pub(crate) fn show_in_dock(app: &AppHandle, shown: bool) {
    let policy = if shown { ActivationPolicy::Regular } else { ActivationPolicy::Accessory };
    if let Err(error) = app.set_activation_policy(policy) {
        warn!(%error, "cannot change the Dock icon");
    }
}

/// Launching a running application sends it an event instead of starting a second process.
pub(crate) fn is_reopened(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Reopen { .. })
}

/// The menu bar colours a template itself.
pub(crate) fn backdrop() -> Backdrop {
    Backdrop::Template
}

/// The menu bar is always there.
pub(crate) async fn has_tray() -> bool {
    true
}

/// Never needed, because there always is a tray.
pub(crate) fn explain_missing_tray(_app: &AppHandle) {}

/// The system does not report when the menu closes, so it counts as closed after this time.
pub(crate) const MENU_OPEN_LIMIT: Duration = Duration::from_secs(20);

/// The system reports only clicks; see [`crate::system::MenuOpen`].
pub(crate) fn report_menu_open(_reporter: MenuOpenReporter) {}
