//! What the gateway writes for its clients: where it runs, and the tokens of editors.
//!
//! Used by every module that reaches a gateway. Uses only `evermoor-core` and `evermoor-platform`.

pub(crate) mod runtime_file;
pub(crate) mod token;
