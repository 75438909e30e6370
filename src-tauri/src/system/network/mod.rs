//! Network changes: reported on Linux, `unsupported` elsewhere.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod unsupported;

#[cfg(target_os = "linux")]
pub(crate) use linux::Network;
#[cfg(not(target_os = "linux"))]
pub(crate) use unsupported::Network;
