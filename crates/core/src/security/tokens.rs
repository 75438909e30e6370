//! The token file: one token per editor.
//!
//! A token identifies the editor, so that the user can see which editors are connected and revoke
//! one. Only the file's owner can read it. The user may edit it by hand: an editor's entry is its
//! token with the creation time, or the token alone.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};

use crate::failure::{Code, Failure};
use crate::security::request_access::same_token;

/// The editor name of the stdio shim, and for configurations written by hand.
pub const LOCAL_EDITOR: &str = "local";

/// The content of the token file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    editors: BTreeMap<String, TokenEntry>,
}

/// An editor's token, and its creation time (Unix time in milliseconds), if known.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written")]
struct TokenEntry {
    token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<u64>,
}

/// The two notations of an entry in the file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Bare(String),
    Whole { token: String, made: Option<u64> },
}

/// Why a token file is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTokenFile {
    #[error("it is not a token file ({0})")]
    Unreadable(String),
    #[error("`{0}` is not a valid editor name")]
    Name(String),
    #[error("the token of `{0}` is too short")]
    TooShort(String),
    #[error("another editor has the same token as `{0}`")]
    Shared(String),
    #[error("it contains no token")]
    Empty,
}

/// Why a change of the tokens is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("`{0}` is not a valid editor name")]
    Name(String),
    #[error("the editor `{0}` already has a token")]
    Taken(String),
    #[error("there is no editor `{0}`")]
    Unknown(String),
    #[error("`{LOCAL_EDITOR}` cannot be revoked: Evermoor's own programs use it")]
    Local,
}

const SHORTEST: usize = 32;
const LONGEST_NAME: usize = 32;

impl Tokens {
    /// A new token file with a token for [`LOCAL_EDITOR`], from 32 random bytes.
    pub fn first(random: [u8; 32], now: u64) -> Self {
        Self { editors: BTreeMap::from([(LOCAL_EDITOR.to_owned(), TokenEntry::new(random, now))]) }
    }

    pub fn parse(content: &[u8]) -> Result<Self, InvalidTokenFile> {
        let tokens: Self = serde_json::from_slice(content)
            .map_err(|error| InvalidTokenFile::Unreadable(error.to_string()))?;
        if tokens.editors.is_empty() {
            return Err(InvalidTokenFile::Empty);
        }
        for (editor, entry) in &tokens.editors {
            check_name(editor).map_err(|_| InvalidTokenFile::Name(editor.clone()))?;
            if entry.token.len() < SHORTEST {
                return Err(InvalidTokenFile::TooShort(editor.clone()));
            }
            if tokens.editors.values().filter(|other| other.token == entry.token).count() > 1 {
                return Err(InvalidTokenFile::Shared(editor.clone()));
            }
        }
        Ok(tokens)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("strings and numbers serialise")
    }

    /// The editor that this token belongs to. All tokens are compared, so that the time taken reveals
    /// nothing.
    pub fn editor(&self, presented: &str) -> Option<&str> {
        self.editors.iter().fold(None, |found, (editor, entry)| {
            if same_token(presented, &entry.token) { Some(editor.as_str()) } else { found }
        })
    }

    pub fn of(&self, editor: &str) -> Option<&str> {
        self.editors.get(editor).map(|entry| entry.token.as_str())
    }

    /// All editors, with the creation time of each token.
    pub fn editors(&self) -> impl Iterator<Item = (&str, Option<u64>)> {
        self.editors.iter().map(|(editor, entry)| (editor.as_str(), entry.made))
    }

    /// Creates a token for a new editor.
    pub fn add(&mut self, editor: &str, random: [u8; 32], now: u64) -> Result<String, TokenError> {
        check_name(editor)?;
        if self.editors.contains_key(editor) {
            return Err(TokenError::Taken(editor.to_owned()));
        }
        Ok(self.put(editor, random, now))
    }

    /// Replaces an editor's token; the old one becomes invalid.
    pub fn rotate(
        &mut self,
        editor: &str,
        random: [u8; 32],
        now: u64,
    ) -> Result<String, TokenError> {
        // This restores the token of Evermoor's own programs if it was removed from the file.
        if editor != LOCAL_EDITOR && !self.editors.contains_key(editor) {
            return Err(TokenError::Unknown(editor.to_owned()));
        }
        Ok(self.put(editor, random, now))
    }

    /// Removes an editor's token.
    pub fn revoke(&mut self, editor: &str) -> Result<(), TokenError> {
        if editor == LOCAL_EDITOR {
            return Err(TokenError::Local);
        }
        let gone = self.editors.remove(editor);
        gone.map(drop).ok_or_else(|| TokenError::Unknown(editor.to_owned()))
    }

    fn put(&mut self, editor: &str, random: [u8; 32], now: u64) -> String {
        let entry = TokenEntry::new(random, now);
        let token = entry.token.clone();
        self.editors.insert(editor.to_owned(), entry);
        token
    }
}

impl TokenEntry {
    fn new(random: [u8; 32], now: u64) -> Self {
        Self { token: format!("em_{}", BASE64.encode(random)), made: Some(now) }
    }
}

impl From<Written> for TokenEntry {
    fn from(written: Written) -> Self {
        match written {
            Written::Bare(token) => Self { token, made: None },
            Written::Whole { token, made } => Self { token, made },
        }
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.editors.keys()).finish()
    }
}

impl From<&TokenError> for Failure {
    fn from(denied: &TokenError) -> Self {
        let (code, remedy) = match denied {
            TokenError::Name(_) => {
                (Code::Forbidden, "Use 1 to 32 letters, digits, dots, dashes and underscores.")
            }
            TokenError::Taken(_) => (Code::Forbidden, "Rotate it, or choose another name."),
            TokenError::Unknown(_) => (Code::NotFound, "`evermoor tokens` lists the editors."),
            TokenError::Local => {
                (Code::Forbidden, "Rotate it instead: `evermoor tokens rotate local`.")
            }
        };
        let mut what = format!("{denied}.");
        what[..1].make_ascii_uppercase();
        Self::new(code, what, remedy)
    }
}

/// Checks an editor's name. It is part of paths and session ids, so it must not need escaping there.
pub fn check_name(text: &str) -> Result<(), TokenError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let dots = text.chars().all(|c| c == '.');
    if (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(allowed) && !dots {
        Ok(())
    } else {
        Err(TokenError::Name(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> Tokens {
        Tokens::first([7; 32], 1)
    }

    #[test]
    fn only_the_exact_token_identifies_its_editor() {
        let tokens = tokens();
        let token = tokens.of(LOCAL_EDITOR).unwrap().to_owned();
        assert_eq!(tokens.editor(&token), Some(LOCAL_EDITOR));
        for wrong in ["", "em_", &token[1..], &format!("{token}x")] {
            assert_eq!(tokens.editor(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_invalid_token_file_is_refused() {
        let long = "x".repeat(SHORTEST);
        let refused = |text: &str| Tokens::parse(text.as_bytes()).unwrap_err();
        assert_eq!(refused(r#"{"editors":{}}"#), InvalidTokenFile::Empty);
        assert_eq!(refused(r#"{"editors":{"a":""}}"#), InvalidTokenFile::TooShort("a".into()));
        assert_eq!(
            refused(&format!(r#"{{"editors":{{"a b":"{long}"}}}}"#)),
            InvalidTokenFile::Name("a b".into())
        );
        assert_eq!(
            refused(&format!(r#"{{"editors":{{"a":"{long}","b":{{"token":"{long}"}}}}}}"#)),
            InvalidTokenFile::Shared("a".into())
        );
        assert!(matches!(Tokens::parse(b""), Err(InvalidTokenFile::Unreadable(_))));
        assert_eq!(Tokens::parse(&tokens().to_bytes()).unwrap(), tokens());
    }

    #[test]
    fn an_entry_may_be_a_bare_token() {
        let long = "x".repeat(SHORTEST);
        let text = format!(r#"{{"editors":{{"a":"{long}","b":{{"token":"{long}b","made":5}}}}}}"#);
        let tokens = Tokens::parse(text.as_bytes()).unwrap();
        assert_eq!(tokens.editor(&long), Some("a"));
        assert_eq!(tokens.editors().collect::<Vec<_>>(), [("a", None), ("b", Some(5))]);
    }

    #[test]
    fn a_token_is_added_rotated_and_revoked() {
        let mut tokens = tokens();
        let first = tokens.add("cursor", [1; 32], 2).unwrap();
        assert_eq!(tokens.add("cursor", [2; 32], 3), Err(TokenError::Taken("cursor".into())));
        let second = tokens.rotate("cursor", [2; 32], 3).unwrap();
        assert_eq!((tokens.editor(&first), tokens.editor(&second)), (None, Some("cursor")));
        tokens.revoke("cursor").unwrap();
        assert_eq!(tokens.editor(&second), None);
        assert_eq!(tokens.revoke("cursor"), Err(TokenError::Unknown("cursor".into())));
        assert_eq!(tokens.rotate("cursor", [3; 32], 4), Err(TokenError::Unknown("cursor".into())));
    }

    #[test]
    fn the_local_token_can_be_rotated_but_not_revoked() {
        let mut tokens = tokens();
        assert_eq!(tokens.revoke(LOCAL_EDITOR), Err(TokenError::Local));
        let old = tokens.of(LOCAL_EDITOR).unwrap().to_owned();
        tokens.rotate(LOCAL_EDITOR, [1; 32], 2).unwrap();
        assert_eq!(tokens.editor(&old), None);
    }

    #[test]
    fn a_name_needs_no_escaping_anywhere() {
        let long = "x".repeat(LONGEST_NAME + 1);
        for bad in ["", ".", "..", "a b", "a/b", "a\"b", "é", &long] {
            assert_eq!(tokens().add(bad, [1; 32], 2), Err(TokenError::Name(bad.into())));
        }
        assert!(tokens().add("Claude-Code_2.1", [1; 32], 2).is_ok());
    }

    #[test]
    fn a_refusal_has_a_remedy() {
        let failure = Failure::from(&TokenError::Unknown("x".into()));
        assert_eq!(
            failure.to_string(),
            "There is no editor `x`. `evermoor tokens` lists the editors."
        );
    }

    #[test]
    fn tokens_are_never_printed() {
        assert_eq!(format!("{:?}", tokens()), "[\"local\"]");
    }
}
