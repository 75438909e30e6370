//! Commands about servers and their configuration. `add_remove`, `config` and `secret` change
//! `config.toml` and the keychain, `approve` lets a new program start; `call`, `login`, `pause` and
//! `restart` ask the running gateway; `lookup` finds the name that the user typed, and `suggest` a similar one.

pub(crate) mod add_remove;
pub(crate) mod approve;
pub(crate) mod call;
pub(crate) mod config;
pub(crate) mod login;
pub(crate) mod lookup;
pub(crate) mod pause;
pub(crate) mod restart;
pub(crate) mod secret;
mod suggest;
