//! Reads what the gateway recorded: calls, status events, incidents, log lines and memory samples.

pub(super) mod activity;
pub(super) mod events;
pub(super) mod incidents;
pub(super) mod logs;
pub(super) mod samples;
