//! How an upstream is reached: Streamable HTTP, HTTP+SSE and stdio, behind one `Connection`.

pub(crate) mod connection;
pub(crate) mod connector;
pub(crate) mod discovery;
pub(crate) mod duplex;
pub(crate) mod handshake;
pub(crate) mod http;
pub(crate) mod live;
pub(crate) mod sse;
pub(crate) mod stdio;
