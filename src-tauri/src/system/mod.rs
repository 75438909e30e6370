//! What differs between the three desktops: colours of the panel, clicks on the icon, the Dock.

#[cfg(target_os = "linux")]
mod linux;
pub(crate) mod login;
#[cfg(target_os = "macos")]
mod macos;
pub(crate) mod network;
pub(crate) mod notifications;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(crate) use linux::{backdrop, check_display, is_reopened, show_in_dock};
#[cfg(target_os = "macos")]
pub(crate) use macos::{backdrop, check_display, is_reopened, show_in_dock};
#[cfg(windows)]
pub(crate) use windows::{backdrop, check_display, is_reopened, show_in_dock};

/// A left click opens the menu; on Windows it opens the window, as people there expect.
pub(crate) const MENU_ON_LEFT_CLICK: bool = cfg!(not(windows));
