//! The scenario language of the end-to-end tests: start a fake upstream, start a gateway, attach
//! an editor, break something, say what must be seen.
//!
//! Everything is real: processes, sockets, signals, a session bus. Nothing waits for a length of
//! time; it waits for what it wants to see, and gives up after [`PATIENCE`].

pub mod conformance;
#[cfg(target_os = "linux")]
pub mod desktop;
pub mod editor;
pub mod fakes;
pub mod folder;
pub mod gateway;
pub mod interop;
pub mod network;
pub mod oracle;
pub mod peers;
pub mod scene;

pub use scene::Scene;

/// How long a test waits for what must happen, on a machine that is busy with other things.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);
