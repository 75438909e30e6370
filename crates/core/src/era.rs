//! The eras of MCP: what differs between its revisions, and how one is put into the words of another.
//!
//! # Layout
//! - [`abilities`]: what an editor can do for an upstream that asks it back
//! - [`dialect`]: how a server wants to be spoken to
//! - [`introduction`]: how the gateway introduces itself to an editor, in the words of either era
//! - [`mirrored`]: parameters of tools that are repeated in headers
//! - [`stateless`]: requests of 2026-07-28, which speak for themselves

pub mod abilities;
pub mod dialect;
pub mod introduction;
pub mod mirrored;
pub mod stateless;
