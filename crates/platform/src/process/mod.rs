//! Processes: upstreams' programs, applications that somebody else started, and this process itself.

pub mod child;
pub mod descriptors;
pub mod exit_watch;
pub mod info;
pub mod launch;
pub mod memory;
pub mod port;
pub mod run;
pub mod signals;
pub mod spawn;
