//! The endpoint on the wire, in every MCP version.
//!
//! - [`sessions`]: Streamable HTTP with sessions
//! - [`stateless`], [`input`]: 2026-07-28
//! - [`sse`]: HTTP+SSE of 2024-11-05

mod input;
mod sessions;
mod sse;
mod stateless;
