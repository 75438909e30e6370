//! Clients and servers that other people made, the SDKs, and MCP's conformance suite.

pub(crate) mod clients;
pub(crate) mod conformance;
pub(crate) mod sdks;
pub(crate) mod servers;
