//! The endpoint on the wire, in every revision.

#[cfg(target_os = "linux")]
mod input;
mod sessions;
mod sse;
mod stateless;
