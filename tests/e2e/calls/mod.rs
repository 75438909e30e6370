//! Calls through the gateway: answered once, held during an outage, shared, and over the shim.
//!
//! - [`basic`], [`outage`]: over HTTP, with the upstream up and down
//! - [`shim`], [`shim_socket`]: over `evermoor connect`, and its private socket
//! - [`cost`]: how many instructions a call needs
//! - [`sharing`]: upstreams that editors share or have for themselves
//! - [`chaos`]: all faults at once

pub(crate) mod basic;
pub(crate) mod chaos;
#[cfg(target_os = "linux")]
pub(crate) mod cost;
pub(crate) mod outage;
pub(crate) mod sharing;
pub(crate) mod shim;
#[cfg(unix)]
pub(crate) mod shim_socket;
