//! Editors: their tokens, their setup, and importing the servers they already have.

pub(super) mod import;
pub mod setup;
pub(super) mod tokens;
