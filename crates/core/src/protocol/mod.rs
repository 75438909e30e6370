//! MCP and JSON-RPC on the wire.
//!
//! - [`json`]: JSON values that keep their bytes; [`envelope`]: JSON-RPC messages; [`params`]: the
//!   parameters of a request, read once
//! - [`mcp`]: method names, headers and the handshake
//! - [`version`]: protocol versions and how one is chosen
//! - [`stateless`]: requests of 2026-07-28, which have no session
//! - [`sse`], [`event_id`]: server-sent events and the ids that resume a stream
//! - [`progress`], [`log_level`], [`request_size`]: progress tokens, log levels, messages over the limit
//! - [`shim_frames`]: the private stream between the stdio shim and the gateway
//! - [`translate`]: messages of one protocol version in another
//!
//! Pure parsing and writing, without I/O. Uses [`catalog`](crate::catalog) for list methods and tool
//! annotations, [`failure`](crate::failure) for the names of calls, and
//! [`security`](crate::security) to sign a request state. `catalog`,
//! `failure`, `policy` and `security` use it.

pub mod envelope;
pub mod event_id;
pub mod json;
pub mod log_level;
pub mod mcp;
pub mod params;
pub mod progress;
pub mod request_size;
pub mod shim_frames;
pub mod sse;
pub mod stateless;
pub mod translate;
pub mod version;
