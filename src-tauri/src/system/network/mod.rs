//! Whether the network became another one, where the system tells.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod silent;

#[cfg(target_os = "linux")]
pub(crate) use linux::Network;
#[cfg(not(target_os = "linux"))]
pub(crate) use silent::Network;
