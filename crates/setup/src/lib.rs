//! Connects editors: what each one reads, and edits of its files that hurt nothing else in them.
//!
//! # Layout
//! - [`table`]: every editor, from `clients.toml`. [`places`]: where its files are on each system,
//!   [`spot`]: where in which file its servers are
//! - [`format`](mod@format): reading and editing JSON, TOML and YAML as text. [`tree`]: what they say
//! - [`entry`](mod@entry): a server in an editor's file, whatever its dialect
//! - [`wish`]: what an editor's file should say about Evermoor, in its dialect
//! - [`desk`]: one person's editors. [`plan`]: what would change, [`act`]: doing and undoing it,
//!   [`command`]: through the editor's own program, [`rotation`]: with another token
//! - [`journal`]: what we wrote, and files as they were before
//! - [`drift`]: whether editors are still connected as we left them

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
