//! Calls through the gateway: answered once, held during an outage, shared, and over the shim.
//!
//! - [`basic`], [`outage`]: over HTTP, with the upstream up and down
//! - [`shim`]: over `evermoor connect`
//! - [`sharing`]: upstreams that editors share or have for themselves
//! - [`chaos`]: all faults at once

pub(crate) mod basic;
pub(crate) mod chaos;
pub(crate) mod outage;
pub(crate) mod sharing;
pub(crate) mod shim;
