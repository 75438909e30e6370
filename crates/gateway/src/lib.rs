//! The gateway: one stable endpoint for editors, and a supervised connection to each upstream.
//!
//! # Layout
//! - [`server`]: the HTTP server: listener, authentication, routes, control API, dashboard
//! - [`mcp`]: MCP as editors see it: sessions, exchanges, subscriptions, tasks
//! - [`routing`]: from an editor's request to an upstream, and what each editor may see
//! - [`upstream`]: one supervisor per upstream, its transports, and the delivery of calls
//! - [`apps`]: watches and restarts the applications that host upstreams
//! - [`config`]: `config.toml`, presets, secrets, and the set of running upstreams
//! - [`editors`]: editors' tokens, setup and import
//! - [`history`]: incidents and samples on disk
//! - [`monitoring`]: status, recent calls, connected clients, timelines, log
//! - [`lifecycle`]: start, stop, takeover and handover
//! - [`system`]: clock, keys, redaction, sleep and wake, file watching, the write lease
//!
//! A request goes `server` → `mcp` → `routing` → `upstream`, and none of these uses one to its left.
//! `lifecycle` assembles everything, and nothing uses it. Some other folders use each other, such as
//! `config` and `upstream`. `tests/e2e/tidy/dependencies.rs` lists what each folder may use.

pub mod apps;
pub mod config;
pub mod editors;
pub mod history;
pub mod lifecycle;
pub mod mcp;
pub mod monitoring;
pub mod routing;
pub mod server;
pub mod system;
pub mod upstream;

pub use lifecycle::gateway::Gateway;
pub use lifecycle::takeover::TakeoverTerms;
pub use server::serve_error::ServeError;

/// The version of the gateway.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
