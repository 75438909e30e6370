//! The gateway's own secrets: the editors' tokens, the session key and the control token.
//!
//! They are created at the first start, in files that only their owner can read. If a file exists
//! but cannot be trusted, the gateway does not start: it never serves without tokens instead.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::security::session_id::SessionKey;
use evermoor_core::security::tokens::{InvalidTokenFile, TokenError, Tokens};
use evermoor_platform::clock;
use evermoor_platform::fs::private;
use evermoor_platform::fs::private::UnsafeFile;
use evermoor_platform::paths::Paths;

/// Why the keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error(transparent)]
    Unsafe(#[from] UnsafeFile),
    #[error("{path} cannot be used: {source}; remove it and Evermoor creates a new one")]
    BadTokens { path: String, source: InvalidTokenFile },
    #[error("{path} is not a session key; remove it and Evermoor creates a new one")]
    BadKey { path: String },
    #[error("cannot write {path}: {source}")]
    Unwritable { path: String, source: std::io::Error },
    #[error("the gateway is shutting down")]
    Interrupted,
    #[error("the system provides no random numbers: {0}")]
    NoRandom(getrandom::Error),
}

/// Why the token file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error(transparent)]
    Denied(#[from] TokenError),
    #[error(transparent)]
    Keys(#[from] KeyError),
}

/// The editors' tokens, created at the first start.
pub fn tokens(paths: &Paths) -> Result<Tokens, KeyError> {
    if let Some(tokens) = known_tokens(paths)? {
        return Ok(tokens);
    }
    let tokens = Tokens::first(random()?, clock::unix_millis());
    write(&paths.token_file(), &tokens.to_bytes())?;
    Ok(tokens)
}

/// The editors' tokens; `None` if there is no file.
pub fn known_tokens(paths: &Paths) -> Result<Option<Tokens>, KeyError> {
    let path = paths.token_file();
    let bad = |source| KeyError::BadTokens { path: shown(&path), source };
    let content = private::read_private(&path)?;
    content.map(|content| Tokens::parse(&content).map_err(bad)).transpose()
}

/// Changes the token file: adds, rotates or revokes the token of one editor. Returns the new tokens.
pub fn change_tokens<T>(
    paths: &Paths,
    change: impl FnOnce(&mut Tokens, [u8; 32], u64) -> Result<T, TokenError>,
) -> Result<(Tokens, T), ChangeError> {
    let mut tokens = tokens(paths)?;
    let made = change(&mut tokens, random()?, clock::unix_millis())?;
    write(&paths.token_file(), &tokens.to_bytes())?;
    Ok((tokens, made))
}

/// The key that signs session ids, created at the first start.
pub fn session_key(paths: &Paths) -> Result<SessionKey, KeyError> {
    let path = paths.session_key_file();
    let key = match private::read_private(&path)? {
        Some(content) => content.try_into().map_err(|_| KeyError::BadKey { path: shown(&path) })?,
        None => {
            let key: [u8; 32] = random()?;
            write(&path, &key)?;
            key
        }
    };
    Ok(SessionKey::new(key))
}

/// The token of the control API, created at the first start. It changes only when the user asks for
/// it, so that a dashboard in a browser stays connected after a restart.
pub fn control_token(paths: &Paths) -> Result<String, KeyError> {
    let path = paths.control_token_file();
    let known = private::read_private(&path)?.and_then(|content| String::from_utf8(content).ok());
    // A shorter token could be guessed.
    let long = |token: &String| token.len() >= 43 && token.bytes().all(|it| it.is_ascii_graphic());
    if let Some(token) = known.filter(long) {
        return Ok(token);
    }
    rotate_control_token(paths)
}

/// Replaces the token of the control API. A gateway uses the new one from its next start on.
pub fn rotate_control_token(paths: &Paths) -> Result<String, KeyError> {
    let token = random_token()?;
    write(&paths.control_token_file(), token.as_bytes())?;
    Ok(token)
}

/// A random token, 256 bits in base64.
pub fn random_token() -> Result<String, KeyError> {
    Ok(BASE64.encode(random::<32>()?))
}

/// A short random id of this run of the gateway.
pub fn instance_id() -> Result<String, KeyError> {
    Ok(random::<4>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Cryptographically secure random bytes.
pub fn random<const N: usize>() -> Result<[u8; N], KeyError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(KeyError::NoRandom)?;
    Ok(bytes)
}

impl From<&ChangeError> for Failure {
    fn from(error: &ChangeError) -> Self {
        match error {
            ChangeError::Denied(denied) => denied.into(),
            ChangeError::Keys(error) => {
                Self::new(Code::Internal, format!("{error}."), "Then try again.")
            }
        }
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), KeyError> {
    private::write_private(path, content)
        .map_err(|source| KeyError::Unwritable { path: shown(path), source })
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
