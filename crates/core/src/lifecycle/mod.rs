//! What gateways, old and new, leave for each other and for the command line.

pub mod handover;
pub mod runtime;
pub mod version;
