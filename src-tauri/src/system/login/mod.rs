//! The entry that starts Evermoor at login: a `file` on Linux and macOS, a `registry` value
//! on Windows.

#[cfg(unix)]
mod file;
#[cfg(windows)]
mod registry;

#[cfg(unix)]
pub(crate) use file::{image, is_on, is_turned_off, remove, starts, write_entry};
#[cfg(windows)]
pub(crate) use registry::{image, is_on, is_turned_off, remove, starts, write_entry};
