//! MCP versions: the endpoint in each of them, and translation between them.
//!
//! - [`endpoint`]: the endpoint on the wire
//! - [`stateless_editor`], [`input`]: 2026-07-28 editors with older servers
//! - [`session_editor`]: editors with sessions and 2026-07-28 servers
//! - [`content`], [`tasks`]: translation of results and tasks
//! - [`matrix`]: every version with every other
//! - [`fixture`]: what the tests share

mod content;
mod endpoint;
mod fixture;
mod input;
mod matrix;
mod session_editor;
mod stateless_editor;
mod tasks;
