//! The HTTP server: accepts connections, checks who calls, routes requests, and serves the control API and the dashboard.

pub mod auth;
pub mod control;
pub mod dashboard;
pub mod demo;
pub mod listener;
pub(crate) mod routes;
