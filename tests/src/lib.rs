//! The scenario language of the end-to-end tests: start a fake upstream, start a gateway, attach
//! an editor, break something, say what must be seen.
//!
//! Everything is real: processes, sockets, signals, a session bus. Nothing waits for a length of
//! time; it waits for what it wants to see, and gives up after [`PATIENCE`].

pub mod answer;
pub mod clients;
pub mod conformance;
#[cfg(target_os = "linux")]
pub mod desktop;
pub mod dice;
pub mod editor;
pub mod entry;
pub mod era;
pub mod events_server;
pub mod fake;
pub mod fake_server;
pub mod gateway;
pub mod ledger;
#[cfg(target_os = "linux")]
pub mod logind;
pub mod looking;
#[cfg(unix)]
pub mod machine;
pub mod measure;
pub mod oracle;
pub mod peers;
pub mod pieces;
#[cfg(target_os = "linux")]
pub mod program;
pub mod programs;
pub mod proxy;
pub mod repertoire;
pub mod rust_client;
pub mod scene;
pub mod script;
pub mod shim;
#[cfg(target_os = "linux")]
pub mod small_disk;
pub mod socket;
pub mod tls;
pub mod tunnel;
pub mod wire;

pub use scene::Scene;

/// How long a test waits for what must happen, on a machine that is busy with other things.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);
