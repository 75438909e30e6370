//! Translation between MCP versions, with upstreams that speak one version only.
//!
//! - [`stateless_editor`], [`input`]: 2026-07-28 editors with older servers
//! - [`session_editor`]: editors with sessions and 2026-07-28 servers
//! - [`content`], [`tasks`]: translation of results and tasks
//! - [`matrix`]: every version with every other
//! - [`fixture`]: what the tests share

#[cfg(unix)]
mod content;
#[cfg(unix)]
mod fixture;
#[cfg(unix)]
mod input;
#[cfg(target_os = "linux")]
mod matrix;
#[cfg(unix)]
mod session_editor;
#[cfg(unix)]
mod stateless_editor;
#[cfg(unix)]
mod tasks;
