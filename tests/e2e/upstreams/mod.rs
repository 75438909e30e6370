//! Upstreams of every kind, and what happens when they fail.
//!
//! - [`stdio`], [`remote`], [`presets`]: kinds of upstreams
//! - [`sign_in`]: servers that want a sign-in
//! - [`faults`], [`wake`]: failures; [`hostile`]: servers and files that attack their reader
//! - [`incidents`]: the record of outages
//! - [`pause`], [`reload`]: what a user changes
//!
//! [`wake`] runs only on Linux, where a test can take the place of logind, which reports sleep. On macOS and
//! Windows the kernel reports it, and nothing outside the gateway can stand in for that. What the gateway
//! does with a notice is the same code on all systems; only `platform::sleep` differs.

pub(crate) mod faults;
pub(crate) mod hostile;
pub(crate) mod incidents;
pub(crate) mod pause;
pub(crate) mod presets;
pub(crate) mod reload;
pub(crate) mod remote;
pub(crate) mod sign_in;
pub(crate) mod stdio;
#[cfg(target_os = "linux")]
pub(crate) mod wake;
