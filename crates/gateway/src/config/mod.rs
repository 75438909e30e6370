//! The configuration and what follows from it: files, edits, presets, secrets, and the set of upstreams that run.

pub mod edit;
pub mod file;
pub mod first_run;
pub mod pauses;
pub mod presets;
pub mod secrets;
pub mod upstream_set;
pub mod watch;
