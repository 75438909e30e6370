//! What the gateway knows about its own work and shows to people.
//!
//! - [`status`]: the state of all upstreams, derived and kept up to date
//! - [`activity`]: the calls of editors; [`clients`]: which clients are connected
//! - [`user_actions`]: what the user last did to each upstream
//! - [`warnings`] and [`doctor`]: what is wrong or worth knowing
//! - [`log`]: the gateway's log; [`redaction`]: removes secrets from everything shown
//!
//! `status` and `doctor` read from most folders (`upstream`, `routing`, `config`, `editors`, `apps`,
//! `server`). Any folder may use `activity`, `clients`, `log` and `redaction`.

pub mod activity;
pub mod clients;
pub mod log;
pub mod status;
pub mod timelines;
pub mod user_actions;
