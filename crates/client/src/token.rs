//! The token with which our own programs speak as an editor.

use evermoor_core::security::tokens::{LOCAL_EDITOR, Tokens};
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;

/// The token that the gateway made for this machine. Empty where there is none: the gateway then
/// says itself that one is missing.
pub(crate) fn local(paths: &Paths) -> String {
    of(paths, LOCAL_EDITOR)
}

/// The token of an editor that we speak for; this machine's if it has none of its own.
pub(crate) fn of(paths: &Paths, editor: &str) -> String {
    let content = private::read_private(&paths.token_file()).ok().flatten();
    let tokens = content.and_then(|content| Tokens::parse(&content).ok());
    let token =
        tokens.as_ref().and_then(|tokens| tokens.of(editor).or_else(|| tokens.of(LOCAL_EDITOR)));
    token.map(str::to_owned).unwrap_or_default()
}
