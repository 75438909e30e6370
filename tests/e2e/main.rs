//! The end-to-end tests: one binary, every scenario a sentence.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod call;
mod chaos;
mod clients;
mod command_line;
mod conformance;
mod control;
mod door;
mod endpoint;
mod faults;
mod incidents;
mod memory;
mod outage;
mod pause;
mod peers;
mod pieces;
mod reload;
mod remote;
mod shim;
#[cfg(target_os = "linux")]
mod stdio;
mod tidy;
#[cfg(target_os = "linux")]
mod tray;
