//! Takes out of a text what looks like a secret, before anybody writes it down.
//!
//! Nobody logs a secret on purpose. But an address, an error of a library or a line that a program
//! prints may hold one. So what follows a word such as `token=` or `Bearer` is taken out, and so is
//! every long word that only a machine can have made up.

use std::borrow::Cow;

/// What stands where a secret stood.
pub const REMOVED: &str = "[removed]";

/// A word of this length without a space, a slash or a dot in it, with letters and digits, is a key.
const LONG: usize = 40;
/// Words that say that a secret follows, in lower case and without `-` and `_`.
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
/// Schemes of the header `Authorization`.
const SCHEMES: [&str; 2] = ["bearer", "basic"];

/// The text without what looks like a secret.
pub fn scrub(text: &str) -> Cow<'_, str> {
    if !text.contains(['=', ':', '@', ' ']) && text.len() < LONG {
        return Cow::Borrowed(text);
    }
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    // Whether what comes next is a secret by what stands before it.
    let mut expected = Expected::Nothing;
    while let Some(letter) = rest.chars().next() {
        let end = rest.find(|letter: char| !in_word(letter)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        if expected == Expected::Secret && is_scheme(word) {
            made.push_str(word);
            rest = tail;
        } else if expected == Expected::Secret && begins_secret(letter) {
            // A secret may hold signs that no word has: all up to the next space or quote is it.
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
    /// A sign was there: a secret follows if `=` or `:` does.
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

    /// With this character behind it.
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

/// Whether nobody would write such a word.
fn is_made_up(word: &str) -> bool {
    word.len() >= LONG
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether a secret that is expected begins with this, and not only what stands around it.
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
    fn what_follows_the_word_for_a_secret_is_removed() {
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
    fn a_word_that_only_a_machine_makes_up_is_removed() {
        let key = "Zk3vQ9yT1mLx8RwPb5NcJ7hGfD2sAe4uVi6oKqXtBzE";
        assert_eq!(scrub(&format!("got {key}.")), "got [removed].");
    }

    #[test]
    fn what_people_say_stays() {
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
        fn no_secret_is_left_behind_its_sign(
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
        fn what_was_scrubbed_once_stays(text in "\\PC{0,80}") {
            let once = scrub(&text).into_owned();
            prop_assert_eq!(scrub(&once).into_owned(), once);
        }
    }
}
