//! Processes.
//!
//! Starting them:
//! - [`spawn`]: creates commands, and starts programs that outlive this process
//! - [`child`]: starts the program of an upstream, which must not outlive this process
//! - [`launch`]: launches a desktop application
//! - [`run`]: runs a tool of the system and returns its output
//!
//! Processes of others:
//! - [`info`]: which program a process is, when it started, what it uses
//! - [`port`]: the process that listens on a port
//! - [`exit_watch`]: notices when a process exits
//! - [`quit`]: asks an application to quit
//!
//! This process:
//! - [`signals`], [`descriptors`], [`memory`]: stop requests, the limit of open files, memory
//! - [`protect`]: keeps others out of its memory
//!
//! Depends on [`crate::clock`], [`crate::fs`] and [`crate::system`].

pub mod child;
pub mod descriptors;
pub mod exit_watch;
pub mod info;
pub mod launch;
pub mod memory;
pub mod port;
pub mod protect;
pub mod quit;
pub mod run;
pub mod signals;
pub mod spawn;
