//! Fake servers and applications that misbehave on command.
//!
//! - [`upstream`]: an HTTP upstream with a ledger, the default in most scenarios
//! - [`single_version`]: an upstream that speaks one MCP version only
//! - [`sse_server`]: a 2024-11-05 server inside the test process
//! - [`program`]: a stdio upstream that the gateway starts
//! - [`pieces`]: a fake PiecesOS
//! - [`shim_gateway`]: the gateway's end of the private socket of shims
//! - [`logind`]: sleep and wake-up announcements
//!
//! Depends on [`scene`](crate::scene), [`oracle`](crate::oracle), [`gateway`](crate::gateway) and,
//! for its bus, [`desktop`](crate::desktop). Used by [`scene`](crate::scene), by the scenarios and
//! by the binaries.

#[cfg(target_os = "linux")]
pub mod logind;
pub mod pieces;
pub mod program;
pub mod shim_gateway;
pub mod single_version;
pub mod sse_server;
pub mod upstream;
