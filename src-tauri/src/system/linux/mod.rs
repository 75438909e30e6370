//! Linux and its many panels.

mod menu;
mod tray_host;

use std::time::Duration;

use evermoor_core::failure::{Code, Failure};
use tauri::{AppHandle, RunEvent};

use crate::tray::icon::Backdrop;

pub(crate) use menu::tell_openings;
pub(crate) use tray_host::{has_tray, say_there_is_no_tray};

/// A panel that forgets to say that the menu was closed has this long.
pub(crate) const LONGEST_LOOK: Duration = Duration::from_secs(60);

/// Without a display the toolkit would end the process with a panic.
pub(crate) fn check_display() -> Result<(), Failure> {
    gtk::init().map_err(|_| {
        let what = "There is no display to show a tray icon on.";
        Failure::new(Code::Configuration, what, "Run `evermoor serve` instead.")
    })
}

/// There is no Dock.
pub(crate) fn show_in_dock(_app: &AppHandle, _shown: bool) {}

/// A second launch is a second process, which the single instance sees to.
pub(crate) fn is_reopened(_event: &RunEvent) -> bool {
    false
}

pub(crate) fn backdrop() -> Backdrop {
    backdrop_of(&std::env::var("XDG_CURRENT_DESKTOP").unwrap_or_default())
}

/// GNOME's bar is dark whatever the theme. No other panel tells its colour, and a faint icon is
/// better than one that cannot be seen.
fn backdrop_of(desktop: &str) -> Backdrop {
    let dark = desktop.split(':').any(|name| matches!(name, "GNOME" | "Unity"));
    if dark { Backdrop::Dark } else { Backdrop::Any }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icon_is_bright_only_where_the_panel_is_surely_dark() {
        assert_eq!(backdrop_of("ubuntu:GNOME"), Backdrop::Dark);
        assert_eq!(backdrop_of("KDE"), Backdrop::Any);
        assert_eq!(backdrop_of(""), Backdrop::Any);
    }
}
