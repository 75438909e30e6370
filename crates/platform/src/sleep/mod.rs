//! Notifications that the machine suspends and resumes.
//!
//! Comparing clocks also detects a suspend, but later, and not a short one. So this subscribes to the
//! system: logind on Linux, the power manager on macOS and Windows. Without notifications, the clocks
//! are the fallback. Depends on no other module of this crate.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "linux")]
pub use linux::watch_power_on;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(windows)]
use windows as system;

/// A notification of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerEvent {
    /// The machine is about to suspend.
    Suspending,
    /// The machine has resumed.
    Resumed,
}

/// The system sends no notifications, or has stopped sending them.
#[derive(Debug, thiserror::Error)]
#[error("the system does not report suspend and resume: {0}")]
pub struct PowerEventsUnavailable(String);

/// Calls `notify` for every notification. Returns only when there are none, or no more, and says why.
/// Dropping the future ends the subscription.
pub async fn watch_power(notify: impl FnMut(PowerEvent) + Send) -> PowerEventsUnavailable {
    system::notices(notify).await
}
