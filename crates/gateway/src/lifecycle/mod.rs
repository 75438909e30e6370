//! A gateway from start to end: assembly, binding the address, takeover by a newer one, and handover.

pub(crate) mod assembly;
pub(crate) mod bind;
pub mod gateway;
pub(crate) mod handover;
pub mod keys;
pub mod predecessor;
pub(crate) mod start_error;
pub mod takeover;
