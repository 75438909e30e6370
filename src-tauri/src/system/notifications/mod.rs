//! The notifications of each desktop. Each file implements `alerts::Notifier`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(crate) use linux::Notifications;
#[cfg(target_os = "macos")]
pub(crate) use macos::Notifications;
#[cfg(windows)]
pub(crate) use windows::Notifications;
