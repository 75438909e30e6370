//! Servers and applications that misbehave on command: upstreams, PiecesOS, logind.

#[cfg(target_os = "linux")]
pub mod logind;
pub mod pieces;
#[cfg(target_os = "linux")]
pub mod program;
pub mod single_version;
pub mod sse_server;
pub mod upstream;
