//! The gateway: one endpoint for editors that never goes away, and a connection to each upstream
//! that is always brought back.
//!
//! # Layout
//! - [`gateway`]: puts the parts together and runs them until told to stop
//! - [`upstream`]: one supervised connection per upstream, and the delivery of calls
//! - [`downstream`]: the endpoint that editors see
//! - [`router`]: from an editor's request to the upstream that answers it
//! - [`control`]: the control API for tray, dashboard and command line
//! - [`dashboard`]: the dashboard's files
//! - [`status`]: the state of the whole, kept up to date
//! - [`chance`]: chance and the time of day, which a simulation gives itself
//! - [`keys`]: the gateway's own token file and keys
//! - `wake`: notices that the machine slept
//! - [`demo`]: the upstream that answers when nothing is configured

pub mod chance;
pub mod control;
pub mod dashboard;
pub mod demo;
pub mod downstream;
pub mod gateway;
pub mod keys;
pub mod router;
pub mod status;
pub mod upstream;
mod wake;

pub use gateway::{Gateway, StartError};

/// The version that the gateway speaks of.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
