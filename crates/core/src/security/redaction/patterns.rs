//! Removes what looks like a secret from a text before it is logged or shown.
//!
//! An address, a library's error or a program's output may contain a secret. So the value after
//! `token=`, `Bearer` and the like is removed, and so is every long word that looks generated.

use std::borrow::Cow;

/// Replaces what was removed.
pub const REMOVED: &str = "[removed]";

/// A word of letters and digits of at least this length counts as a key.
const LONG: usize = 40;
/// Names of secrets, in lower case and without `-` and `_`.
const SIGNS: [&str; 11] = [
    "apikey",
    "accesskey",
    "authorization",
    "credential",
    "credentials",
    "passphrase",
    "password",
    "passwd",
    "privatekey",
    "secret",
    "token",
];
/// Schemes of the `Authorization` header.
const SCHEMES: [&str; 2] = ["bearer", "basic"];

/// The text without anything that looks like a secret.
pub fn scrub(text: &str) -> Cow<'_, str> {
    if !text.contains(['=', ':', '@', ' ']) && text.len() < LONG {
        return Cow::Borrowed(text);
    }
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    // Whether the preceding text announces a secret.
    let mut expected = Expected::Nothing;
    while let Some(letter) = rest.chars().next() {
        let end = rest.find(|letter: char| !in_word(letter)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        if expected == Expected::Secret && is_scheme(word) {
            made.push_str(word);
            rest = tail;
        } else if expected == Expected::Secret && begins_secret(letter) {
            // A secret may contain punctuation: it extends to the next space or quote.
            let end = rest.find(ends_secret).unwrap_or(rest.len());
            rest = rest.strip_prefix(REMOVED).unwrap_or(&rest[end..]);
            made.push_str(REMOVED);
            expected = Expected::Nothing;
        } else if end == 0 {
            expected = expected.after(letter);
            made.push(letter);
            rest = &rest[letter.len_utf8()..];
        } else {
            let in_address = tail.starts_with('@') && made.ends_with([':', '/']);
            let hidden = is_made_up(word) || in_address;
            made.push_str(if hidden { REMOVED } else { word });
            expected = Expected::following(word);
            rest = tail;
        }
    }
    Cow::Owned(made)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Nothing,
    /// The name of a secret: a value follows if `=` or `:` is next.
    Sign,
    Secret,
}

impl Expected {
    fn following(word: &str) -> Self {
        if word.eq_ignore_ascii_case("bearer") {
            return Self::Secret;
        }
        let plain: String =
            word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        let is_sign = SIGNS.iter().any(|sign| plain.ends_with(sign));
        if is_sign { Self::Sign } else { Self::Nothing }
    }

    /// The state after this character.
    fn after(self, letter: char) -> Self {
        match (self, letter) {
            (Self::Sign, '=' | ':') => Self::Secret,
            (Self::Sign | Self::Secret, '"' | '\'' | ' ' | '\\') => self,
            (Self::Secret, ':' | '=') => self,
            (Self::Nothing | Self::Sign | Self::Secret, _) => Self::Nothing,
        }
    }
}

fn in_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '-'
}

fn is_scheme(word: &str) -> bool {
    SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Whether a word looks generated.
fn is_made_up(word: &str) -> bool {
    word.len() >= LONG
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether an expected secret starts with this character.
fn begins_secret(letter: char) -> bool {
    !ends_secret(letter) && !":=\\".contains(letter)
}

fn ends_secret(letter: char) -> bool {
    letter.is_whitespace() || "\"'`,;&<>)]}".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_value_after_the_name_of_a_secret_is_removed() {
        for (text, wanted) in [
            ("token=abc", "token=[removed]"),
            ("https://x/mcp?api_key=a.b/c&x=1", "https://x/mcp?api_key=[removed]&x=1"),
            ("Authorization: Bearer a.b-c", "Authorization: Bearer [removed]"),
            (r#"{"client_secret": "s3", "a": 1}"#, r#"{"client_secret": "[removed]", "a": 1}"#),
            ("GITHUB_TOKEN=ghp_1 npx", "GITHUB_TOKEN=[removed] npx"),
            ("https://me:pw@host/", "https://me:[removed]@host/"),
        ] {
            assert_eq!(scrub(text), wanted);
        }
    }

    #[test]
    fn a_long_generated_word_is_removed() {
        let key = "Zk3vQ9yT1mLx8RwPb5NcJ7hGfD2sAe4uVi6oKqXtBzE";
        assert_eq!(scrub(&format!("got {key}.")), "got [removed].");
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        for text in [
            "upstream down upstream=notes attempt=3",
            "Nothing listens at 127.0.0.1:3001. Start the server.",
            "the token is turned off",
            "/home/a/.local/state/evermoor/gateway.log",
            "took=1.2s pid=812",
        ] {
            assert_eq!(scrub(text), text);
        }
    }

    proptest! {
        #[test]
        fn no_secret_is_left_after_its_name(
            before in "[a-z ]{0,12}",
            sign in prop::sample::select(vec!["token=", "password: ", "api-key=", "Bearer ", "\"secret\":\""]),
            secret in "[A-Za-z0-9_./+-]{6,60}",
            after in "( [a-z]{0,8})?",
        ) {
            let text = format!("{before} {sign}{secret}{after}");
            prop_assume!(!before.contains(&secret) && !after.contains(&secret));
            let found = scrub(&text).into_owned();
            prop_assert!(!found.contains(&secret), "{}", found);
        }

        #[test]
        fn scrubbing_twice_changes_nothing(text in "\\PC{0,80}") {
            let once = scrub(&text).into_owned();
            prop_assert_eq!(scrub(&once).into_owned(), once);
        }
    }
}
