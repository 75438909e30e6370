//! The endpoint that editors see.
//!
//! # Layout
//! - [`guard`]: who may speak: Host, Origin, token
//! - [`mcp`]: `/mcp` and `/mcp/<upstream>`: sessions and requests
//! - [`reply`]: an answer as JSON, or as a stream when it takes long or comes in parts

pub mod guard;
pub mod mcp;
mod reply;
