//! Everything that differs between macOS, Linux and Windows: the panel's colours, clicks on the
//! icon, the Dock, notifications, the network, the login entry. Also the tray's [`log`].
//!
//! [`linux`], `macos` and `windows` export the same functions; the one for this system is used
//! through this module. [`notifications`], [`network`] and [`login`] have one file per system.
//! [`menu_open`] knows whether the menu is open. Nothing here knows about the gateway;
//! notifications implement `alerts::Notifier`.

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
    MENU_OPEN_LIMIT, backdrop, check_display, explain_missing_tray, has_tray, is_reopened, paint,
    report_menu_open, report_wakes, show_in_dock, start_in_background, start_without_dock_icon,
};
pub(crate) use menu_open::MenuOpen;

/// A left click opens the menu. On Windows it opens the window, as is usual there.
pub(crate) const MENU_ON_LEFT_CLICK: bool = cfg!(not(windows));

/// Whether a click on the icon is the only sign that the menu opens. Linux and macOS report it.
pub(crate) const CLICK_OPENS_MENU: bool = cfg!(windows);

/// Whether the text of a submenu can change while the menu is open. GTK cannot do this.
pub(crate) const SUBMENU_TEXTS_CHANGE_IN_PLACE: bool = cfg!(not(target_os = "linux"));
