//! The endpoint on the wire, in every revision.

#[cfg(target_os = "linux")]
mod input;
mod newer;
mod sessions;
mod sse;
