//! Reads the tokens with which Evermoor's own programs use the MCP endpoint.

use evermoor_core::security::tokens::{LOCAL_EDITOR, Tokens};
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;

/// The token of Evermoor's own programs. Empty if there is none; the gateway then reports that the
/// token is missing.
pub(crate) fn local(paths: &Paths) -> String {
    of(paths, LOCAL_EDITOR)
}

/// The token of an editor, or the local one if the editor has none.
pub(crate) fn of(paths: &Paths, editor: &str) -> String {
    let content = private::read_private(&paths.token_file()).ok().flatten();
    let tokens = content.and_then(|content| Tokens::parse(&content).ok());
    let token =
        tokens.as_ref().and_then(|tokens| tokens.of(editor).or_else(|| tokens.of(LOCAL_EDITOR)));
    token.map(str::to_owned).unwrap_or_default()
}
