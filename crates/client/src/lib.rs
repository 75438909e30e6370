//! Everything that talks to a running gateway from outside: the tray, the command line, the shim.
//!
//! It knows how to find the gateway, how to start one, and how to follow its state. It knows
//! nothing of upstreams and links none of the gateway's code, so that the tray stays small and the
//! gateway stays replaceable.
//!
//! # Layout
//! - [`http`]: a small HTTP client for the loopback
//! - [`control`]: the control API
//! - [`keeper`]: keeps a gateway running and says how it is
//! - [`launch`]: starts a gateway when there is none
//! - [`moving`]: another port for the gateway
//! - [`passing`]: passing on what a dashboard asks of the control API
//! - [`mcp`]: a session of our own through the public endpoint
//! - [`shim`]: an editor's standard input and output as a session with the gateway

pub mod api_proxy;
pub mod control;
pub mod http;
pub mod launch;
pub mod mcp;
pub mod move_port;
pub mod shim;
pub mod supervise;
mod token;

pub use api_proxy::Passed;
pub use control::{Control, ControlError};
pub use supervise::{GatewaySupervisor, Presence};
