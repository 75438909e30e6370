//! Actions on one upstream.
//!
//! - `catalog`: its tools, prompts and resources
//! - `pause` and `restart`; `secrets`: reconnects after a secret changed
//! - `try_tool`: a test call
//!
//! Uses `crate::upstream` through the router, and `crate::mcp` for test calls. Only the routes of
//! the control API depend on it.

pub(super) mod catalog;
pub(super) mod pause;
pub(super) mod restart;
pub(super) mod secrets;
pub(super) mod try_tool;
