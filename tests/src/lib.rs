//! The language of the end-to-end tests: start a fake upstream, start a gateway, connect an editor,
//! break something, and check what the editor sees.
//!
//! - [`scene`], [`gateway`], [`editor`]: what every scenario starts with
//! - [`fakes`], [`network`]: servers, applications and connections that fail on command
//! - [`oracle`]: checks the editors' answers against what was executed
//! - [`peers`], [`interop`], [`conformance`]: third-party servers and clients
//! - [`desktop`]: a private desktop for the tray, Linux only
//!
//! Everything is real: processes, sockets, signals, a session bus. Tests wait for a condition,
//! never for a fixed time, and fail after [`PATIENCE`].

pub mod conformance;
#[cfg(target_os = "linux")]
pub mod desktop;
pub mod editor;
pub mod fakes;
pub mod gateway;
pub mod interop;
pub mod network;
pub mod oracle;
pub mod peers;
pub mod scene;

pub use scene::Scene;

/// Time limit for anything a test waits for, on a busy machine.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);
