//! A log on the disk: the gateway's, and the tray's.
//!
//! # Layout
//! - [`layer`]: makes a line of whatever is said with `tracing`
//! - [`file`](mod@file): writes lines, in a thread of its own and in a few files that never grow
//! - [`read`]: reads them, also while they are written

pub mod file;
pub mod layer;
pub mod read;

pub use file::Desk;
pub use layer::Layer;
