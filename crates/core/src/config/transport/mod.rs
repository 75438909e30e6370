//! How a server is reached: its address, HTTP options, or the program to start.

pub(crate) mod address;
pub(crate) mod http;
pub(crate) mod program;
