//! Upstreams of every kind, and what happens when they fail.
//!
//! - [`stdio`], [`remote`], [`presets`]: kinds of upstreams
//! - [`sign_in`]: servers that want a sign-in
//! - [`faults`], [`wake`]: failures; [`hostile`]: servers and files that attack their reader
//! - [`incidents`]: the record of outages
//! - [`pause`], [`reload`]: what a user changes

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
