//! The transports to an upstream: Streamable HTTP, HTTP+SSE and stdio, behind one `Connection`.
//!
//! - [`connector`]: makes connections as the configuration says; [`discovery`]: which transport and
//!   version an HTTP server speaks
//! - [`connection`]: a connection over any transport; [`live_connection`]: one in use, with its
//!   calls
//! - [`outbound`]: a call, encoded for the server when it is sent
//! - [`http`]: Streamable HTTP, with sessions or stateless
//! - [`duplex`]: messages both ways, used by [`sse`] (HTTP+SSE) and [`stdio`]
//! - [`resubscribe`]: restores subscriptions on a new connection
//!
//! Transports know the caller of a request (`server_requests`), the subscriptions of editors and the
//! count of calls in flight (`delivery::in_flight`), but not the supervisor that owns them or the
//! retries of calls.

pub(crate) mod connection;
pub(crate) mod connector;
pub(crate) mod discovery;
pub(crate) mod duplex;
pub(crate) mod http;
pub(crate) mod live_connection;
pub(crate) mod outbound;
mod resubscribe;
pub(crate) mod sse;
pub(crate) mod stdio;
