//! Communication between processes of the same user.
//!
//! - [`local_socket`]: a byte stream between a shim and the gateway
//! - [`handover`]: passes sockets and the instance lock to another process
//!
//! Depends on [`crate::fs`] for the lock and for private folders.

pub mod handover;
pub mod local_socket;
