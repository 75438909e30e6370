//! What differs between the three desktops: colours of the panel, clicks on the icon, the Dock, the
//! entry for launch at login.

#[cfg(target_os = "linux")]
mod linux;
pub(crate) mod log;
pub(crate) mod login;
#[cfg(target_os = "macos")]
mod macos;
mod menu_open;
pub(crate) mod network;
pub(crate) mod notifications;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as here;
#[cfg(target_os = "macos")]
use macos as here;
#[cfg(windows)]
use windows as here;

pub(crate) use here::{
    LONGEST_LOOK, backdrop, check_display, has_tray, is_reopened, say_there_is_no_tray,
    show_in_dock, tell_openings,
};
pub(crate) use menu_open::Opening;

/// A left click opens the menu; on Windows it opens the window, as people there expect.
pub(crate) const MENU_ON_LEFT_CLICK: bool = cfg!(not(windows));
