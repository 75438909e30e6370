//! Decisions about desktop apps that host an upstream, and that Evermoor did not start itself.
//!
//! - [`install`]: where an app may be installed, and how it can be launched
//! - [`command`]: the command lines that launch, quit and stop it on each operating system
//! - [`state`]: its state, with a text and the next step
//! - [`evidence`]: why its process exited, from exit codes and crash reports
//! - [`restart`]: the state machine of a restart
//! - [`auto_restart`]: what Evermoor does without asking, and when it stops
//! - [`memory_trend`]: how its memory use develops
//!
//! Pure rules over a [preset](crate::preset) and observations, with the time as an argument. Besides
//! presets they use only [`failure`](crate::failure) and the format of sizes in
//! [`config`](crate::config).

pub mod auto_restart;
pub mod command;
pub mod evidence;
pub mod install;
pub mod memory_trend;
pub mod restart;
pub mod state;

/// One run of an app: a process id, and the start time as the system counts it, because process ids
/// are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AppRun {
    pub pid: u32,
    pub started: u64,
}
