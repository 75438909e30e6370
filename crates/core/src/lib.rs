//! The pure part of Evermoor: types, parsing and decisions. No I/O, async, clock or OS; time is an
//! argument.
//!
//! # Layout
//! - [`protocol`]: JSON-RPC, MCP messages, SSE, and the translation between MCP versions
//! - [`catalog`]: the tools, prompts and resources of each upstream, merged and filtered per editor
//! - [`config`]: `config.toml`: parsing, validation, edits that keep comments, migration
//! - [`preset`]: descriptions of apps that host an MCP server
//! - [`policy`]: decisions: retries, backoff, pauses, alerts, restarts of apps
//! - [`failure`]: failures with a code and a remedy, and the answers to calls that failed
//! - [`history`]: incidents, resource samples, latencies and timelines
//! - [`security`]: tokens, session ids, request checks, and removing secrets from texts
//! - [`import`]: turning the MCP servers that editors already have into upstreams
//! - [`lifecycle`]: the runtime file, version comparison and the handover between two gateways
//! - [`api`]: the types of the control API
//!
//! Everything else in the workspace may depend on this crate; it depends on no other member.

pub mod api;
pub mod catalog;
pub mod config;
pub mod failure;
pub mod history;
pub mod import;
pub mod lifecycle;
pub mod policy;
pub mod preset;
pub mod protocol;
pub mod security;
