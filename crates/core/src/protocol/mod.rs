//! MCP and JSON-RPC on the wire: messages, revisions, and translation between revisions.

pub mod dialect;
pub mod envelope;
pub mod event_id;
pub mod json;
pub mod log_level;
pub mod mcp;
pub mod oversize;
pub mod progress;
pub mod sse;
pub mod stateless;
pub mod translate;
pub mod unsupported_version;
pub mod version;
