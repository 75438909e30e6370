//! Log files of the gateway and the tray: one JSON object per line, in a few files of limited size.
//!
//! # Layout
//! - [`layer`]: turns `tracing` events into log lines
//! - [`file`](mod@file): writes log lines on its own thread and rotates the files
//! - [`read`]: reads and follows log files
//!
//! Depends on `evermoor-core` for the type of a line and on `evermoor-platform` for files and the clock.

pub mod file;
pub mod layer;
pub mod read;

pub use file::LogWriter;
pub use layer::LogLayer;
