//! The HTTP server: accepts connections, authenticates requests and routes them.
//!
//! - [`listener`]: accepts connections and enforces their limits
//! - [`auth`]: checks Host, Origin and token; `routes`: the list of routes
//! - [`control`]: the control API for the tray, the dashboard and the command line
//! - [`dashboard`]: the dashboard's files
//! - [`demo`]: the built-in demo upstream
//!
//! Uses most of the gateway: `mcp` for editors' requests, and `monitoring`, `config`, `editors` and
//! `history` for the control API. Only `lifecycle`, the doctor, and the connector of the demo
//! depend on it.

pub mod auth;
pub(crate) mod bind;
pub mod control;
pub mod dashboard;
pub mod doctor;
pub mod listener;
pub(crate) mod routes;
pub(crate) mod serve_error;
