//! The notifications of each desktop. Each file implements `alerts::Notifier`. [`permission`] decides how
//! they are shown where the system asks the user first; `toast` is what Windows is told about one.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
pub(crate) mod permission;
#[cfg(any(windows, test))]
mod toast;
#[cfg(windows)]
mod windows;

use parking_lot::Mutex;

use self::permission::NotificationDelivery;

#[cfg(target_os = "linux")]
pub(crate) use linux::Notifications;
#[cfg(target_os = "macos")]
pub(crate) use macos::{Notifications, ask_in_first_run};
#[cfg(windows)]
pub(crate) use windows::Notifications;

/// How the last notification was shown, for the settings.
#[derive(Default)]
pub(crate) struct CurrentDelivery(Mutex<NotificationDelivery>);

impl CurrentDelivery {
    pub(crate) fn get(&self) -> NotificationDelivery {
        *self.0.lock()
    }

    #[allow(dead_code, reason = "only macOS has more than one")]
    fn set(&self, delivery: NotificationDelivery) {
        *self.0.lock() = delivery;
    }
}

/// Only macOS asks the user first.
#[cfg(not(target_os = "macos"))]
pub(crate) fn ask_in_first_run() {}
