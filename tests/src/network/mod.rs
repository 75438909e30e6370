//! The network between the gateway and a server.
//!
//! - [`proxy`]: breaks connections on command
//! - [`connect_proxy`]: an HTTP CONNECT proxy
//! - [`tls`]: a certificate authority and a TLS server
//!
//! Depends on nothing else in this crate. Used by `e2e/upstreams`, `e2e/calls` and the `recovery`
//! binary.

pub mod connect_proxy;
pub mod proxy;
pub mod tls;
