//! Calls through the gateway: answered once, held in an outage, shared, over the shim.

pub(crate) mod basic;
pub(crate) mod chaos;
pub(crate) mod outage;
#[cfg(target_os = "linux")]
pub(crate) mod sharing;
pub(crate) mod shim;
