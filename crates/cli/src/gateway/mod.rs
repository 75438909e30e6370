//! Commands about the gateway itself: serve, connect, start, stop, service, demo, open.

pub(crate) mod connect;
pub(crate) mod demo;
pub(crate) mod open;
pub(crate) mod serve;
pub(crate) mod service;
pub(crate) mod start_stop;
