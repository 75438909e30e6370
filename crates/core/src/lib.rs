//! The pure heart of Evermoor: what is known and decided, without I/O, async, clock or OS.
//!
//! # Layout
//! - [`json`]: raw JSON values that keep their bytes, and shallow edits of raw objects
//! - [`envelope`]: the JSON-RPC envelope, the only part of a message that is parsed
//! - [`protocol`]: MCP revisions, methods and the few messages the gateway writes itself
//! - [`name`]: names of upstreams, and the names of their tools in the merged view
//! - [`call`]: what may be sent again
//! - [`catalog`]: what an upstream offers, and the merged view of several
//! - [`config`]: `config.toml`, parsed and validated as a whole
//! - [`memory`]: what an upstream last said of itself, as it lies on the disk
//! - [`failure`]: failures with a code for programs and a remedy for people
//! - [`outcome`]: the answer to a call that its upstream did not answer
//! - [`backoff`]: how long to wait before the next attempt
//! - [`runtime`]: how a running gateway is reached
//! - [`progress`]: progress tokens, minted anew on each hop
//! - [`pace`]: which connections to suspect, and when to slow down
//! - [`session`]: session ids that survive a restart
//! - [`sse`]: server-sent events, parsed from chunks
//! - [`tokens`]: one token per editor
//! - [`guard`]: who may speak to the endpoint
//! - [`head`]: requests that could be read in two ways
//! - [`view`]: what the control API says

pub mod backoff;
pub mod call;
pub mod catalog;
pub mod config;
pub mod envelope;
pub mod failure;
pub mod guard;
pub mod head;
pub mod json;
pub mod memory;
pub mod name;
pub mod outcome;
pub mod pace;
pub mod progress;
pub mod protocol;
pub mod runtime;
pub mod session;
pub mod sse;
pub mod tokens;
pub mod view;
