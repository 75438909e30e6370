//! Third-party clients and servers, the SDKs, and MCP's conformance suite.
//!
//! - [`servers`], [`clients`]: third-party programs on one side of the gateway
//! - [`agents`]: agents with a stand-in for their model
//! - [`sdks`]: SDKs on both sides
//! - [`conformance`]: MCP's conformance suite

#[cfg(target_os = "linux")]
pub(crate) mod agents;
pub(crate) mod clients;
pub(crate) mod conformance;
pub(crate) mod sdks;
pub(crate) mod servers;
