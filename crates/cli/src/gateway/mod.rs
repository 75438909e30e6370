//! Commands about the gateway itself: `serve` runs it, `connect` is the stdio shim, `start_stop` and
//! `service` manage it, `open` opens the dashboard, and `demo` shows what it does. `logging` sets up
//! the log. `serve` runs the gateway in this process; the others talk to one through
//! `evermoor-client`.

pub(crate) mod connect;
pub(crate) mod demo;
mod logging;
pub(crate) mod open;
pub(crate) mod serve;
pub(crate) mod service;
pub(crate) mod start_stop;
