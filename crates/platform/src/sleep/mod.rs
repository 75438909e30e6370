//! Hearing from the system that the machine goes to sleep, and that it woke.
//!
//! The clocks tell of a sleep too, but only once somebody looks at them, and they tell of none that
//! was short. So each system is asked to say it: logind on Linux, the power manager on macOS and on
//! Windows. Where none of them says anything, the clocks are the backstop.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "linux")]
pub use linux::notices_on;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(windows)]
use windows as system;

/// What the system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It is about to sleep.
    Sleeps,
    /// It slept, and runs again.
    Woke,
}

/// This machine has nobody who would tell, or who told has gone.
#[derive(Debug, thiserror::Error)]
#[error("the system does not tell when it sleeps: {0}")]
pub struct NoNotices(String);

/// Passes on every notice, for as long as the system gives them. It ends with why it does not, or
/// does no more; dropped, it leaves nothing behind.
pub async fn notices(tell: impl FnMut(Notice) + Send) -> NoNotices {
    system::notices(tell).await
}
