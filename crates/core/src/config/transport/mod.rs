//! How a server is reached: its `address`, its `http` options with `oauth`, or the `program` to start.

pub(crate) mod address;
pub(crate) mod http;
pub(crate) mod oauth;
pub(crate) mod program;
