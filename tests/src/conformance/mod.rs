//! The conformance suite of MCP: the server it is pointed at, the client it is asked by, a run of it, and
//! what it found.

mod client;
mod findings;
mod server;
mod suite;

pub use client::{Client, SCENARIOS, try_client};
pub use findings::{Findings, Verdict};
pub use server::{Comparison, Era, Fixture, Requirements, directly, through_a_gateway};
