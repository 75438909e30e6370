//! The entry that starts Evermoor at login, where the system keeps it.

#[cfg(unix)]
mod file;
#[cfg(windows)]
mod registry;

#[cfg(unix)]
pub(crate) use file::{image, is_on, put_right, remove, starts};
#[cfg(windows)]
pub(crate) use registry::{image, is_on, put_right, remove, starts};
