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
//! - [`history`]: incidents, samples and timelines on disk
//! - [`monitoring`]: status, calls, clients, warnings, log, doctor
//! - [`lifecycle`]: start, stop, takeover and handover
//! - [`system`]: clock, sleep and wake, file watching, the write lease
//!
//! A request goes `server` → `mcp` → `routing` → `upstream`. None of these uses one to its left, except
//! that `upstream` connects to the demo in `server`. `lifecycle` assembles all folders; others use only
//! its `keys`, `predecessor` and `bind`. `apps`, `history`, `monitoring` and `system` may be used by
//! any folder. The first lines of each folder's `mod.rs` say what it uses.

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
pub use lifecycle::start_error::ServeError;
pub use lifecycle::takeover::TakeoverTerms;

/// The version of the gateway.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
