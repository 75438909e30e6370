//! Editors: their tokens, their setup, and importing the servers they already have.
//!
//! - `tokens`: creates, rotates and revokes tokens
//! - [`setup`]: writes the gateway's entry into an editor's configuration, and removes it
//! - `import`: moves an editor's own servers behind the gateway
//!
//! Uses `evermoor_setup` and `crate::editors`. Only the routes of the control API depend on it.

pub(super) mod import;
pub mod setup;
pub(super) mod tokens;
