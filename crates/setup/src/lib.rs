//! Sets up editors: adds Evermoor to an editor's configuration file without changing anything else
//! in the file, and removes it again.
//!
//! # Layout
//! - [`table`]: the known editors, from `clients.toml`, and where their files are on each system
//! - [`format`](mod@format): reads and edits JSON, TOML and YAML as text
//! - [`entry`](mod@entry): one server in an editor's file, and the entry that Evermoor needs there
//! - [`editors`]: the editors of the current user
//! - [`plan`]: works out a change. [`apply`]: makes it and undoes it
//! - [`journal`]: what Evermoor wrote, and copies of the files from before
//! - [`drift`]: whether an editor's entry is still the one that Evermoor wrote
//!
//! Depends on `evermoor-core` for the types of the control API and on `evermoor-platform` for files.
//! The gateway and the command line use it.

pub mod apply;
pub mod drift;
pub mod editors;
pub mod entry;
pub mod format;
pub mod journal;
pub mod plan;
pub mod table;
#[cfg(test)]
mod tests;

pub use apply::Done;
pub use drift::Attached;
pub use editors::{Desk, Refused, Scope};
pub use entry::desired::{Door, Gate, Transport};
pub use entry::{Entry, Kind};
pub use plan::{Plan, Wish};
pub use table::folders::Places;
pub use table::location::Spot;
pub use table::{Client, client, clients, did_you_mean};
