//! Linux, with its different panels: [`tray_host`] finds out whether there is a tray, [`menu`]
//! whether its menu is open.

mod menu;
mod tray_host;

use std::time::Duration;

use evermoor_core::api::OverallState;
use evermoor_core::failure::{Code, Failure};
use tauri::tray::TrayIcon;
use tauri::{App, AppHandle, Builder, RunEvent, Wry};

use crate::tray::icon::Backdrop;

pub(crate) use menu::report_menu_open;
pub(crate) use tray_host::{explain_missing_tray, has_tray};

/// If a panel does not report that the menu closed, it counts as closed after this time.
pub(crate) const MENU_OPEN_LIMIT: Duration = Duration::from_secs(60);

/// Without a display, GTK would panic later.
pub(crate) fn check_display() -> Result<(), Failure> {
    gtk::init().map_err(|_| {
        let what = "There is no display for the tray icon.";
        Failure::new(Code::Configuration, what, "Run `evermoor serve` instead.")
    })
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

pub(crate) fn backdrop() -> Backdrop {
    backdrop_of(&std::env::var("XDG_CURRENT_DESKTOP").unwrap_or_default())
}

/// GNOME's panel is dark in every theme. Other panels do not report their colour, so they get the
/// grey icon, which is visible on both.
fn backdrop_of(desktop: &str) -> Backdrop {
    let dark = desktop.split(':').any(|name| matches!(name, "GNOME" | "Unity"));
    if dark { Backdrop::Dark } else { Backdrop::Any }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icon_is_light_only_on_a_panel_that_is_known_to_be_dark() {
        assert_eq!(backdrop_of("ubuntu:GNOME"), Backdrop::Dark);
        assert_eq!(backdrop_of("KDE"), Backdrop::Any);
        assert_eq!(backdrop_of(""), Backdrop::Any);
    }
}
