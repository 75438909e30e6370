//! The operating system. Besides `src-tauri/src/system`, this is the only place for `cfg(target_os)`
//! and unsafe code.
//!
//! Each module is one capability. Decisions (paths, command lines, parsing the output of a tool) are
//! pure functions that take the [`System`](system::System) as a parameter, so tests on one system
//! cover all three. The rest are thin calls into the system.
//!
//! # Layout
//! - [`system`]: which system this is, the machine, the browser
//! - [`clock`]: the time of day
//! - [`paths`]: where Evermoor keeps its files
//! - [`fs`]: private files, atomic replacement, locks, free space
//! - [`process`]: starts, watches, inspects and ends processes
//! - [`ipc`]: sockets between processes of the same user, and handing them over
//! - [`stdio`]: standard input and output that carry a protocol
//! - [`startup`]: what the system starts at login
//! - [`keychain`]: secrets in the system's keychain
//! - [`sleep`]: suspend and resume of the machine
//! - [`crash_reports`]: crash reports that the system wrote
//!
//! Knows nothing about MCP and depends on no other crate of the workspace.

pub mod clock;
pub mod crash_reports;
pub mod fs;
pub mod ipc;
pub mod keychain;
pub mod paths;
pub mod process;
pub mod sleep;
pub mod startup;
pub mod stdio;
pub mod system;
