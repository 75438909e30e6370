//! What the gateway has recorded, for reading.
//!
//! - `activity`: recent calls, latency and timelines
//! - `events`: the status and its changes, as a stream
//! - `incidents`: outages, as JSON or Markdown
//! - `logs`: log lines; `samples`: an app's memory and CPU
//!
//! Uses `crate::monitoring` and `crate::history`. Only the routes of the control API depend on it.

pub(super) mod activity;
pub(super) mod events;
pub(super) mod incidents;
pub(super) mod logs;
pub(super) mod samples;
