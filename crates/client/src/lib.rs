//! Client side of the gateway, shared by the tray, the command line and the stdio shim.
//!
//! This crate finds a running gateway, starts one if needed, and follows its state. It links none
//! of the gateway's code, which keeps the tray small and lets a newer client work with an older
//! gateway. It depends on `evermoor-core` and `evermoor-platform` only.
//!
//! # Layout
//! - [`http`]: a small HTTP client for loopback connections
//! - `gateway_stream`: the private stream that the shim uses
//! - [`control`]: the typed client of the control API
//! - [`api_proxy`]: forwards the dashboard's requests to the control API
//! - [`launch`]: starts a gateway, or replaces an older one
//! - [`gateway_supervisor`]: keeps a gateway running and reports its state
//! - `listener_holder`: keeps its address open while no gateway runs
//! - [`move_port`]: moves the gateway to another port
//! - [`gateway_files`]: small files: where the gateway runs, tokens, and whether the user has stopped it
//! - [`mcp`]: a minimal MCP client for the public endpoint
//! - [`shim`]: bridges an editor's stdin and stdout to the gateway

pub mod api_proxy;
pub mod control;
pub mod gateway_files;
mod gateway_stream;
pub mod gateway_supervisor;
pub mod http;
pub mod launch;
mod listener_holder;
pub mod mcp;
pub mod move_port;
pub mod shim;

pub use api_proxy::ControlResponse;
pub use control::{ControlClient, ControlError};
pub use gateway_supervisor::{GatewaySupervisor, Presence};
