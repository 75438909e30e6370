//! MCP's conformance suite, run directly and through the gateway.
//!
//! - [`server`]: the suite tests a server, alone and behind a gateway
//! - [`client`]: the suite tests a client, alone and with a gateway in between
//! - [`suite`]: the suite's process
//! - [`findings`]: the results of a run
//!
//! Depends on [`scene`](crate::scene) and [`peers`](crate::peers). Used by `e2e/interop` and the
//! `conformance` binary.

mod client;
mod findings;
mod server;
mod suite;

pub use client::{ClientScenario, ConformanceClient, LEFT_OUT, client_scenarios, try_client};
pub use findings::{CheckStatus, Findings};
pub use server::{
    Comparison, ConformanceServer, Requirements, ServerVersions, directly, through_a_gateway,
};
