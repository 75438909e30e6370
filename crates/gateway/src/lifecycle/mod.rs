//! A gateway from start to end.
//!
//! - [`gateway`]: starts and serves
//! - `assembly`: creates all parts and connects them
//! - [`takeover`]: takes over from a running gateway; `handover`: the other side of that
//! - `shutdown`: what happens at SIGTERM, and after a handover
//! - `predecessor`: the conversation with the gateway that was taken over, while it finishes its calls
//!
//! This folder may use all others. No other folder uses it.

pub(crate) mod assembly;
pub mod gateway;
pub(crate) mod handover;
pub(crate) mod predecessor;
mod shutdown;
pub mod takeover;
