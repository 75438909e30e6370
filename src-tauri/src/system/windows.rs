//! Windows: the taskbar has a theme of its own.

use std::time::Duration;

use evermoor_core::failure::Failure;
use tauri::{AppHandle, RunEvent};
use windows_registry::CURRENT_USER;

use super::menu_open::Teller;
use crate::tray::icon::Backdrop;

const THEMES: &str = r"Software\Microsoft\Windows\CurrentVersion\Themes\Personalize";

/// A person who is logged in has a display.
pub(crate) fn check_display() -> Result<(), Failure> {
    Ok(())
}

/// A window has its button in the taskbar without help.
pub(crate) fn show_in_dock(_app: &AppHandle, _shown: bool) {}

/// A second launch is a second process, which the single instance sees to.
pub(crate) fn is_reopened(_event: &RunEvent) -> bool {
    false
}

/// The colour of the taskbar; dark where it was never chosen.
pub(crate) fn backdrop() -> Backdrop {
    let light = CURRENT_USER.open(THEMES).and_then(|key| key.get_u32("SystemUsesLightTheme"));
    if light == Ok(1) { Backdrop::Light } else { Backdrop::Dark }
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
