//! Sets up editors: adds Evermoor to an editor's configuration file without changing anything else
//! in the file, and removes it again.
//!
//! # Layout
//! - [`table`]: the known editors, from `editors.toml`, and where their files are on each system
//! - [`format`](mod@format): reads and edits JSON, TOML and YAML as text
//! - [`entry`](mod@entry): one server in an editor's file, and the entry that Evermoor needs there
//! - [`user_editors`]: the editors of the current user; plans, makes, undoes and checks changes
//! - [`journal`]: what Evermoor wrote, and copies of the files from before
//!
//! Depends on `evermoor-core` for the types of the control API and on `evermoor-platform` for files.
//! The gateway and the command line use it.

pub mod entry;
pub mod format;
pub mod journal;
pub mod table;
#[cfg(test)]
mod tests;
pub mod user_editors;

pub use entry::desired::{EditorTransport, GatewayAccess, GatewayEntry};
pub use entry::{EntryKind, ServerEntry};
pub use table::folders::UserFolders;
pub use table::{EditorSpec, client, clients, did_you_mean, names_for};
pub use user_editors::apply::SetupChange;
pub use user_editors::drift::LiveSession;
pub use user_editors::location::ConfigLocation;
pub use user_editors::plan::{DesiredEntries, SetupPlan};
pub use user_editors::{SetupError, SetupScope, UserEditors};
