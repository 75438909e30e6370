//! Translation between protocol versions.
//!
//! Up to 2025-11-25 there is a handshake and a session; in 2026-07-28 every request is
//! self-contained. "Older" and "newer" below mean these two sides. Everything that depends on the
//! version of either side is decided here, without I/O. The next version is a new variant of
//! [`ProtocolVersion`](crate::protocol::version::ProtocolVersion), and the compiler shows where it
//! matters.
//!
//! - [`server_info`]: the results of `initialize` and `server/discover`
//! - [`client_meta`]: the client's `_meta` in a request; [`client_capabilities`]: what it can do
//! - [`request`]: a request for an upstream; [`param_headers`]: tool parameters in headers
//! - [`response`]: a response for an editor; [`content`]: content that an older editor cannot read
//! - [`input_request`]: input that an upstream needs; [`request_state`]: the token of a call that
//!   waits for input
//! - [`task`]: tasks; [`task_adapter`]: task requests that take several steps
//!
//! Uses only [`protocol`](crate::protocol), [`catalog`](crate::catalog) and
//! [`security`](crate::security).

pub mod client_capabilities;
pub mod client_meta;
pub mod content;
pub mod input_request;
pub mod param_headers;
pub mod request;
pub mod request_state;
pub mod response;
pub mod server_info;
pub mod task;
pub mod task_adapter;
