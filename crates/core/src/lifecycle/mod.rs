//! Data that gateways of different versions and the CLI exchange.
//!
//! - `runtime`: the runtime file, which says how to reach the running gateway
//! - `version`: which Evermoor version is newer, and when to take over
//! - `handover_messages`: the messages between a gateway and its successor
//!
//! This module uses nothing else in the crate. Its formats are read by other versions, so their
//! spelling must not change.

pub mod handover_messages;
pub mod runtime;
pub mod version;
