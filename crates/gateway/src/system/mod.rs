//! What the gateway takes from the machine: clock and randomness, sleep and wake, file changes, the right to write.

pub mod environment;
pub(crate) mod exit;
pub(crate) mod file_watch;
pub mod handoff_queue;
pub(crate) mod wake;
pub mod write_lease;
