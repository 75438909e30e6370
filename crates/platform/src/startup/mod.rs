//! What the system starts at login: the tray, or the gateway as a service.

pub mod login;
pub mod service;
pub(crate) mod xml;
