//! macOS: the application has a Dock icon only while its window is open.
//!
//! [`observer`] subscribes to notifications of AppKit, [`status_icon`] sets the image of the icon.

mod observer;
mod status_icon;

use std::time::Duration;

use evermoor_core::failure::Failure;
use objc2_app_kit::{
    NSMenuDidBeginTrackingNotification, NSMenuDidEndTrackingNotification, NSWorkspace,
    NSWorkspaceDidWakeNotification, NSWorkspaceScreensDidWakeNotification,
};
use objc2_foundation::NSNotificationCenter;
use tauri::{ActivationPolicy, App, AppHandle, Builder, RunEvent, Wry};
use tracing::warn;

use self::observer::observe;
use super::menu_open::MenuOpenReporter;
use crate::tray::icon::Backdrop;

pub(crate) use status_icon::paint;

/// A logged-in user always has a display.
pub(crate) fn check_display() -> Result<(), Failure> {
    Ok(())
}

/// A start does not take the focus from the application that the user works in. The plugin is for
/// notifications without buttons.
pub(crate) fn start_in_background(builder: Builder<Wry>) -> Builder<Wry> {
    builder.activate_ignoring_other_apps(false).plugin(tauri_plugin_notification::init())
}

/// The event loop applies the policy before it runs the setup of the application. `LSUIElement` in
/// Info.plist does not help, because the event loop sets a policy of its own.
pub(crate) fn start_without_dock_icon(app: &mut App) {
    app.set_activation_policy(ActivationPolicy::Accessory);
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

/// Calls `woke` after each wake. The screens can wake later than the machine, after a wake in the
/// dark, and reopen events come then.
pub(crate) fn report_wakes(app: &AppHandle, woke: fn(&AppHandle)) {
    let center = NSWorkspace::sharedWorkspace().notificationCenter();
    #[allow(unsafe_code, reason = "the names are constants of a C library")]
    // SAFETY: AppKit defines both names and never changes them.
    let names = unsafe { [NSWorkspaceDidWakeNotification, NSWorkspaceScreensDidWakeNotification] };
    for name in names {
        let app = app.clone();
        observe(&center, name, move || woke(&app));
    }
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

/// If the system does not report that the menu closed, it counts as closed after this time.
pub(crate) const MENU_OPEN_LIMIT: Duration = Duration::from_secs(60);

/// Reports when a menu of this application opens and closes. The menus of the menu bar count too;
/// they only delay a change for as long as they are open.
pub(crate) fn report_menu_open(reporter: MenuOpenReporter) {
    let center = NSNotificationCenter::defaultCenter();
    #[allow(unsafe_code, reason = "the names are constants of a C library")]
    // SAFETY: AppKit defines both names and never changes them.
    let (begin, end) =
        unsafe { (NSMenuDidBeginTrackingNotification, NSMenuDidEndTrackingNotification) };
    let opening = reporter.clone();
    observe(&center, begin, move || opening.opened());
    observe(&center, end, move || reporter.closed());
}
