//! Actions on one upstream: its catalog, pause, restart, changed secrets and test calls.

pub(super) mod catalog;
pub(super) mod pause;
pub(super) mod restart;
pub(super) mod secrets;
pub(super) mod try_tool;
