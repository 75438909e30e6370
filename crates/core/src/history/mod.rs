//! What is recorded about servers and calls: incidents, samples, latencies, timelines.

pub mod incident;
pub mod latency;
pub mod samples;
pub mod timeline;
