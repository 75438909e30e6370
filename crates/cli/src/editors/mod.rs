//! Commands about editors: setup, import, tokens.

pub(crate) mod import;
pub(crate) mod setup;
pub(crate) mod tokens;
