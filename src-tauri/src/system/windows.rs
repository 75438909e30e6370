//! Windows: the icon follows the theme of the taskbar.

use std::time::Duration;

use evermoor_core::api::OverallState;
use evermoor_core::failure::Failure;
use tauri::tray::TrayIcon;
use tauri::{App, AppHandle, Builder, RunEvent, Wry};
use windows_registry::CURRENT_USER;

use super::menu_open::MenuOpenReporter;
use crate::tray::icon::Backdrop;

const THEMES: &str = r"Software\Microsoft\Windows\CurrentVersion\Themes\Personalize";

/// A logged-in user always has a display.
pub(crate) fn check_display() -> Result<(), Failure> {
    Ok(())
}

/// An application does not take the focus when it starts.
pub(crate) fn start_in_background(builder: Builder<Wry>) -> Builder<Wry> {
    builder
}

/// The tray library sets the image.
pub(crate) fn paint(_icon: &TrayIcon<Wry>, _state: OverallState) {}

/// There is no Dock.
pub(crate) fn start_without_dock_icon(_app: &mut App) {}

/// Only macOS needs to know.
pub(crate) fn report_wakes(_app: &AppHandle, _woke: fn(&AppHandle)) {}

/// There is no Dock.
pub(crate) fn show_in_dock(_app: &AppHandle, _shown: bool) {}

/// A second launch is a second process, which the single-instance plugin handles.
pub(crate) fn is_reopened(_event: &RunEvent) -> bool {
    false
}

/// The colour of the taskbar. Dark is the default.
pub(crate) fn backdrop() -> Backdrop {
    let light = CURRENT_USER.open(THEMES).and_then(|key| key.get_u32("SystemUsesLightTheme"));
    if light == Ok(1) { Backdrop::Light } else { Backdrop::Dark }
}

/// The notification area is always there.
pub(crate) async fn has_tray() -> bool {
    true
}

/// Never needed, because there always is a tray.
pub(crate) fn explain_missing_tray(_app: &AppHandle) {}

/// The system does not report when the menu closes, so it counts as closed after this time.
pub(crate) const MENU_OPEN_LIMIT: Duration = Duration::from_secs(20);

/// The system reports only clicks; see [`crate::system::MenuOpen`].
pub(crate) fn report_menu_open(_reporter: MenuOpenReporter) {}
