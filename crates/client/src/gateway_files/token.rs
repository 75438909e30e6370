//! Reads the tokens with which Evermoor's own programs use the MCP endpoint.

use evermoor_core::failure::{Code, Failure};
use evermoor_core::security::tokens::{LOCAL_EDITOR, Tokens};
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;

/// The token of Evermoor's own programs. Empty if there is none; the gateway then reports that the
/// token is missing.
pub(crate) fn local(paths: &Paths) -> String {
    of(paths, LOCAL_EDITOR).unwrap_or_default()
}

/// The token of an editor. An editor without one is refused: with the local token it would see what
/// its lists hide.
pub(crate) fn of(paths: &Paths, editor: &str) -> Result<String, Failure> {
    let content = private::read_private(&paths.token_file()).ok().flatten();
    let tokens = content.and_then(|content| Tokens::parse(&content).ok());
    let token = tokens.as_ref().and_then(|tokens| tokens.of(editor)).map(str::to_owned);
    match token {
        Some(token) => Ok(token),
        None if tokens.is_none() || editor == LOCAL_EDITOR => Ok(String::new()),
        None => {
            let what = format!("The editor `{editor}` has no token, or its token was revoked.");
            let remedy = format!(
                "Connect it again with `evermoor setup {editor}`, or give it a token with \
                 `evermoor tokens add {editor}`."
            );
            Err(Failure::new(Code::Forbidden, what, remedy))
        }
    }
}
