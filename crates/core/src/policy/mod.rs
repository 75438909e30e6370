//! Decisions as pure functions of what was observed and the time: retries, backoff, alerts, applications.

pub mod alerts;
pub mod app;
pub mod backoff;
pub mod pause;
pub mod retry;
pub mod timing;
