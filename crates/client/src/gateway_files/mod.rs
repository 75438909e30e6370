//! The small files that the gateway and its clients share: where it runs, the tokens of editors, and whether
//! the user has stopped it.
//!
//! Used by every module that reaches a gateway. Uses only `evermoor-core` and `evermoor-platform`.

pub(crate) mod runtime_file;
pub mod stop_marker;
pub(crate) mod token;
