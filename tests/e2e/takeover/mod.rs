//! `evermoor serve --takeover`: a gateway replaces a running one, and editors do not notice.
//!
//! - [`calls`], [`sessions`], [`hammer`]: what continues across a takeover
//! - [`address`]: connections that arrive while no gateway runs
//! - [`attempts`]: takeovers that fail
//! - [`history`]: the record of outages
//! - [`other_versions`]: older gateways; [`compatibility`]: the files they wrote

mod address;
mod attempts;
mod calls;
// What 0.1.0 left behind on Linux.
#[cfg(unix)]
mod compatibility;
mod hammer;
mod history;
mod other_versions;
mod sessions;
