//! Commands about the gateway itself: `serve` runs it, `connect` is the stdio shim, `start_stop`
//! and `service` manage it, `open` opens the dashboard, `demo` shows what it does. Only `serve`
//! links the gateway; the others use `evermoor-client`.

pub(crate) mod connect;
pub(crate) mod demo;
pub(crate) mod open;
pub(crate) mod serve;
pub(crate) mod service;
pub(crate) mod start_stop;
