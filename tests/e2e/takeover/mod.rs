//! `evermoor serve --takeover`: a gateway replaces a running one, and editors do not notice.
//!
//! - [`calls`], [`sessions`], [`hammer`]: what continues across a takeover
//! - [`attempts`]: takeovers that fail
//! - [`history`]: the record of outages
//! - [`stateless`]: older gateways

mod attempts;
mod calls;
mod hammer;
mod history;
mod sessions;
mod stateless;
