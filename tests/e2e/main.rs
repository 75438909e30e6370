//! The end-to-end tests: one binary, every scenario a sentence.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod apps;
mod calls;
mod catalog;
mod commands;
mod control;
mod endpoint;
mod interop;
#[cfg(target_os = "linux")]
mod takeover;
mod tidy;
#[cfg(target_os = "linux")]
mod tray;
mod upstreams;
mod versions;
