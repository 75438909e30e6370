//! What the gateway needs from the machine it runs on.
//!
//! - [`clock`]: the wall clock and random numbers, injected for simulations
//! - [`keys`]: the editors' tokens, the session key and the control token
//! - [`redaction`]: removes known secrets from everything the gateway writes
//! - [`budget`]: how much of what others sent is kept in memory
//! - [`idle_memory`]: returns memory to the system after a burst of requests
//! - `message_body`: a message as the body of an HTTP request or response; `message_parser`: parses one
//! - `wake`: detects that the machine slept
//! - `file_watch`: detects that files or folders changed
//! - `exit`: describes how a process exited
//! - [`write_lease`]: which gateway may write the files that outlive it
//!
//! Uses no other folder. Every folder except `routing` uses it.

pub mod budget;
pub mod clock;
pub(crate) mod exit;
pub(crate) mod file_watch;
pub mod idle_memory;
pub mod keys;
pub(crate) mod message_body;
pub(crate) mod message_parser;
pub mod redaction;
pub(crate) mod wake;
pub mod write_lease;
