//! The server: accepts connections, authenticates requests and routes them.
//!
//! - [`listener`]: accepts connections and enforces their limits
//! - [`shim_socket`]: accepts stdio shims on their private socket
//! - [`auth`]: checks Host, Origin and token; `routes`: the routes for editors
//! - [`control`]: the control API for the tray, the dashboard and the command line
//! - [`dashboard`]: the dashboard's files; [`oauth_callback`]: where a sign-in comes back to
//! - [`doctor`]: checks for common problems
//! - `bind`: the lock, the port and the runtime file; `serve_error`: why a gateway cannot serve
//!
//! May use every folder except `lifecycle`: `mcp` for editors' requests, most others for the control
//! API. Only `lifecycle` uses it.

pub mod auth;
pub(crate) mod bind;
pub mod control;
pub mod dashboard;
pub mod doctor;
pub mod listener;
pub(crate) mod oauth_callback;
pub(crate) mod routes;
pub(crate) mod serve_error;
pub mod shim_socket;
