//! An upstream that speaks exactly one MCP version, over any transport of that version.
//!
//! `single-version-upstream PROTOCOL_VERSION TRANSPORT LEDGER [ADDRESS]` is the process; [`SingleVersionUpstream`]
//! starts one. It refuses requests in any other version. Every tool call is written to the ledger
//! before it is answered.
//!
//! - [`server`]: its state and its answers; [`tools`]: what its tools do
//! - [`tasks`]: work that continues after its call; [`replies`]: results and errors per version
//! - [`http`], [`sse`], [`stdio`]: its transports
//! - [`upstream`]: the handle for tests

pub mod http;
pub mod replies;
pub mod server;
pub mod sse;
pub mod stdio;
pub mod tasks;
pub mod tools;
pub mod upstream;

pub use upstream::{FakeTransport, SingleVersionUpstream};
