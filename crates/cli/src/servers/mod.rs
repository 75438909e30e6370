//! Commands about servers and their configuration: add, remove, call, restart, pause, config, secret.

pub(crate) mod call;
pub(crate) mod config;
pub(crate) mod entries;
pub(crate) mod lookup;
pub(crate) mod pause;
pub(crate) mod restart;
pub(crate) mod secret;
