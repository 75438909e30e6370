//! What is decided about an application that Evermoor did not start and still looks after.
//!
//! Pure rules over a [preset](crate::preset) and what was observed: they take the time as an
//! argument and touch nothing.
//!
//! # Layout
//! - [`place`]: where it may be installed, and what would prove it
//! - [`command`]: command lines that launch it, ask it to quit and end it, on each system
//! - [`state`]: how it stands, in a sentence with the next step
//! - [`evidence`]: what systems say of a process that ended, and what follows from it
//! - [`restart`]: the way from a run to the next, step by step, with its proof
//! - [`policy`]: what may be done by itself, and when to stop
//! - [`trend`]: where its memory is going

pub mod command;
pub mod evidence;
pub mod install;
pub mod memory_trend;
pub mod policy;
pub mod restart;
pub mod state;

/// One run of an application: a process, and when it started in its system's own count. The
/// number alone may come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    pub pid: u32,
    pub started: u64,
}
