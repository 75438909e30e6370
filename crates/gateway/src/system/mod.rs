//! What the gateway needs from the machine and from its other instances.
//!
//! - [`environment`]: the wall clock and random numbers, injected for simulations
//! - `wake`: detects that the machine slept
//! - `file_watch`: detects that files or folders changed
//! - `exit`: describes how a process exited
//! - [`write_lease`]: which gateway may write the files that outlive it
//! - [`handoff_queue`]: what a gateway that was taken over hands to its successor
//!
//! Any folder may use this one. It depends on no other, except for two types: the subscriptions in
//! a handoff (`mcp`) and the name of the operating system (`apps`).

pub mod clock;
pub(crate) mod exit;
pub(crate) mod file_watch;
pub mod keys;
pub mod redaction;
pub(crate) mod wake;
pub mod write_lease;
