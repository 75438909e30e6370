//! What is recorded about upstreams and calls.
//!
//! - `incident`: one outage, and the report about several
//! - `latency`: percentiles per minute of the last day
//! - `samples`: memory and CPU of an app's process, thinned with age
//! - `timeline`: the state changes of an upstream during the last day
//!
//! The records contain no arguments, results or secrets. The gateway stores them; `api` and the CLI
//! show them. This module uses `api`, `failure` and `security`.

pub mod incident;
pub mod latency;
pub mod samples;
pub mod timeline;
