//! The end-to-end tests: one binary, every scenario a sentence.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod apps;
mod call;
mod chaos;
mod clients;
mod command_line;
mod conformance;
mod control;
mod door;
#[cfg(unix)]
mod editors;
mod endpoint;
mod eras;
mod faults;
mod incidents;
mod lists;
mod memory;
mod outage;
mod pause;
mod peers;
mod pieces;
mod presets;
mod reload;
mod remote;
mod repertoire;
#[cfg(target_os = "linux")]
mod secrets;
#[cfg(target_os = "linux")]
mod sharing;
mod shim;
#[cfg(target_os = "linux")]
mod stdio;
#[cfg(target_os = "linux")]
mod takeover;
mod tidy;
#[cfg(target_os = "linux")]
mod tray;
#[cfg(target_os = "linux")]
mod wake;
