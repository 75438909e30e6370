//! What the gateway knows about its own work and shows to users.
//!
//! - [`status`]: the state of all upstreams, derived and kept up to date
//! - [`activity`]: the calls of editors; [`clients`]: which clients are connected
//! - [`user_actions`]: what the user last did to each upstream
//! - [`timelines`]: the states of each upstream during the last day
//! - [`log`]: the gateway's log
//!
//! This folder may use `config`, `editors`, `history`, `routing`, `system` and `upstream`. `mcp`, `server` and
//! `lifecycle` use it; `routing` and `upstream` use only the types of [`status`].

pub mod activity;
pub mod clients;
pub mod log;
pub mod status;
pub mod timelines;
pub mod user_actions;
