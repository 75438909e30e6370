//! One token per editor.
//!
//! A token says which editor speaks, so that a person can see who is connected and turn one away.
//! The tokens are our own; they lie in a file that only its owner can read.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};

use crate::guard::same_token;

/// The editor that the shim speaks for, and that a person uses who writes a configuration by hand.
pub const LOCAL: &str = "local";

/// The content of the token file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    editors: BTreeMap<String, String>,
}

/// The file holds no token that could protect anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTokens {
    #[error("it is not a token file ({0})")]
    Unreadable(String),
    #[error("the token of `{0}` is too short")]
    TooShort(String),
    #[error("it holds no token")]
    Empty,
}

const SHORTEST: usize = 32;

impl Tokens {
    /// A first token, made from 32 random bytes.
    pub fn first(random: [u8; 32]) -> Self {
        let token = format!("em_{}", BASE64.encode(random));
        Self { editors: BTreeMap::from([(LOCAL.to_owned(), token)]) }
    }

    pub fn parse(content: &[u8]) -> Result<Self, BadTokens> {
        let tokens: Self = serde_json::from_slice(content)
            .map_err(|error| BadTokens::Unreadable(error.to_string()))?;
        if tokens.editors.is_empty() {
            return Err(BadTokens::Empty);
        }
        match tokens.editors.iter().find(|(_, token)| token.len() < SHORTEST) {
            Some((editor, _)) => Err(BadTokens::TooShort(editor.clone())),
            None => Ok(tokens),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("strings serialise")
    }

    /// The editor that presents this token. Every token is compared, so that the time taken says
    /// nothing about which one was close.
    pub fn editor(&self, presented: &str) -> Option<&str> {
        self.editors.iter().fold(None, |found, (editor, token)| {
            if same_token(presented, token) { Some(editor.as_str()) } else { found }
        })
    }

    pub fn of(&self, editor: &str) -> Option<&str> {
        self.editors.get(editor).map(String::as_str)
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.editors.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_editor_and_no_other_text_does() {
        let tokens = Tokens::first([7; 32]);
        let token = tokens.of(LOCAL).unwrap().to_owned();
        assert_eq!(tokens.editor(&token), Some(LOCAL));
        for wrong in ["", "em_", &token[1..], &format!("{token}x")] {
            assert_eq!(tokens.editor(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_file_that_protects_nothing_is_refused() {
        assert_eq!(Tokens::parse(br#"{"editors":{}}"#).unwrap_err(), BadTokens::Empty);
        assert_eq!(
            Tokens::parse(br#"{"editors":{"a":""}}"#).unwrap_err(),
            BadTokens::TooShort("a".into())
        );
        assert!(matches!(Tokens::parse(b""), Err(BadTokens::Unreadable(_))));
        assert!(Tokens::parse(&Tokens::first([7; 32]).to_bytes()).is_ok());
    }

    #[test]
    fn tokens_are_never_printed() {
        assert_eq!(format!("{:?}", Tokens::first([7; 32])), "[\"local\"]");
    }
}
