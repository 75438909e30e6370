//! The token with which our own programs speak as an editor.

use evermoor_core::tokens::{LOCAL, Tokens};
use evermoor_platform::files;
use evermoor_platform::paths::Paths;

/// The token that the gateway made for this machine. Empty where there is none: the gateway then
/// says itself that one is missing.
pub(crate) fn local(paths: &Paths) -> String {
    let content = files::read_private(&paths.token_file()).ok().flatten();
    let tokens = content.and_then(|content| Tokens::parse(&content).ok());
    tokens.and_then(|tokens| tokens.of(LOCAL).map(str::to_owned)).unwrap_or_default()
}
