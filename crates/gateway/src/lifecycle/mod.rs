//! A gateway from start to end.
//!
//! - [`gateway`]: starts, serves and stops; `start_error`: why it cannot
//! - `assembly`: creates all parts and connects them
//! - `bind`: the lock, the port and the runtime file
//! - [`takeover`]: takes over from a running gateway; `handover`: the other side of that
//! - [`predecessor`]: the gateway that was taken over, while it finishes its calls
//! - [`keys`]: the editors' tokens, the session key and the control token
//!
//! This folder uses all others. Others may use only [`keys`], [`predecessor`] and `bind`.

pub(crate) mod assembly;
pub mod gateway;
pub(crate) mod handover;
pub(crate) mod start_error;
pub mod takeover;
