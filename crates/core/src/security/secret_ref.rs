//! References to secrets in settings: `${keyring:NAME}`, `${env:NAME}` and `${file:PATH}`.
//!
//! A setting that may contain references is a [`Template`]. It is parsed with the configuration, so
//! that errors are found early, and filled when a connection is made, so that the secret is never
//! part of the configuration. `$${` stands for a literal `${`.

use std::fmt;

use crate::security::redaction::known::Secret;

/// Where a secret is stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecretRef {
    /// In the system's keychain, under this name.
    Keyring(String),
    /// In an environment variable of the gateway.
    Env(String),
    /// In a file. A leading `~` is the home folder.
    File(String),
}

/// A text that may contain references.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Template {
    /// As it was written.
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Reference(SecretRef),
}

/// An invalid reference. The message does not repeat the surrounding text, which may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSecretRef {
    #[error("A reference starts with `${{` but is not closed.")]
    Unclosed,
    #[error("`${{{0}}}` is not a reference to a secret.")]
    Unknown(String),
    #[error("`{0}` is not a valid name for a secret.")]
    Name(String),
    #[error("`${{env:{0}}}` does not name a variable.")]
    Variable(String),
    #[error("`${{file:{0}}}` is a relative path.")]
    Relative(String),
}

/// The maximum length of a secret's name.
const LONGEST_NAME: usize = 64;

impl InvalidSecretRef {
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Unclosed | Self::Unknown(_) => {
                "Write `${keyring:NAME}`, `${env:NAME}` or `${file:PATH}`; `$${` stands for `${` itself."
            }
            Self::Name(_) => {
                "Use at most 64 letters, digits, `-`, `_` and `.`, starting with a letter or digit."
            }
            Self::Variable(_) => "Write the name of a variable, such as `${env:API_TOKEN}`.",
            Self::Relative(_) => {
                "Write an absolute path, or one that starts with `~`, such as `${file:~/token}`."
            }
        }
    }
}

/// Checks that this is a valid name for a secret.
pub fn check_name(name: &str) -> Result<(), InvalidSecretRef> {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    match begins && name.len() <= LONGEST_NAME && name.bytes().all(inside) {
        true => Ok(()),
        false => Err(InvalidSecretRef::Name(name.to_owned())),
    }
}

impl SecretRef {
    /// Parses the text between the braces.
    fn parse(inside: &str) -> Result<Self, InvalidSecretRef> {
        match inside.split_once(':') {
            Some(("keyring", name)) => {
                check_name(name)?;
                Ok(Self::Keyring(name.to_owned()))
            }
            Some(("env", name)) if name.is_empty() || name.contains(['=', ' ', '\0']) => {
                Err(InvalidSecretRef::Variable(name.to_owned()))
            }
            Some(("env", name)) => Ok(Self::Env(name.to_owned())),
            Some(("file", path)) if is_whole_path(path) => Ok(Self::File(path.to_owned())),
            Some(("file", path)) => Err(InvalidSecretRef::Relative(path.to_owned())),
            Some(_) | None => Err(InvalidSecretRef::Unknown(inside.to_owned())),
        }
    }
}

/// Whether a path is absolute on any OS, or starts with `~`.
pub(crate) fn is_whole_path(path: &str) -> bool {
    let drive =
        || path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    path.starts_with(['/', '\\', '~']) || drive()
}

impl fmt::Display for SecretRef {
    /// As it is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keyring(name) => write!(f, "${{keyring:{name}}}"),
            Self::Env(name) => write!(f, "${{env:{name}}}"),
            Self::File(path) => write!(f, "${{file:{path}}}"),
        }
    }
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, InvalidSecretRef> {
        let (mut parts, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find("${") {
            let (before, after) = rest.split_at(at);
            let after = &after[2..];
            if let Some(before) = before.strip_suffix('$') {
                plain.push_str(before);
                plain.push_str("${");
                rest = after;
                continue;
            }
            let (inside, behind) = after.split_once('}').ok_or(InvalidSecretRef::Unclosed)?;
            plain.push_str(before);
            let reference = SecretRef::parse(inside)?;
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Reference(reference));
            rest = behind;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { text: text.to_owned(), parts })
    }

    /// A literal text; `${` in it is escaped.
    pub fn plain(text: &str) -> Self {
        let parts = match text {
            "" => Vec::new(),
            text => vec![Part::Text(text.to_owned())],
        };
        Self { text: text.replace("${", "$${"), parts }
    }

    /// As it was written.
    pub fn as_written(&self) -> &str {
        &self.text
    }

    /// Its references, in order.
    pub fn references(&self) -> impl Iterator<Item = &SecretRef> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Reference(reference) => Some(reference),
        })
    }

    /// Whether it has no references.
    pub fn is_plain(&self) -> bool {
        self.references().next().is_none()
    }

    /// The literal parts.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Reference(_) => None,
        })
    }

    /// The text with each reference replaced by `value` of it.
    pub fn fill<E>(
        &self,
        mut value: impl FnMut(&SecretRef) -> Result<String, E>,
    ) -> Result<Secret, E> {
        let mut filled = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Reference(reference) => filled.push_str(&value(reference)?),
            }
        }
        Ok(Secret::new(filled))
    }
}

impl fmt::Debug for Template {
    /// Prints like a string, because the fingerprints of upstreams are hashes of this.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(text: &str) -> String {
        let filled = Template::parse(text).unwrap().fill(|reference| {
            Ok::<_, ()>(format!("<{reference}>").replace("${", "").replace('}', ""))
        });
        filled.unwrap().reveal().to_owned()
    }

    #[test]
    fn references_are_found_anywhere_in_a_text() {
        assert_eq!(filled("Bearer ${keyring:canny}"), "Bearer <keyring:canny>");
        assert_eq!(filled("${env:A}${file:/run/x}!"), "<env:A><file:/run/x>!");
        assert_eq!(filled("${file:C:\\x y}"), "<file:C:\\x y>");
        assert_eq!(filled("plain $ {text} $1"), "plain $ {text} $1");
        assert_eq!(filled(""), "");
    }

    #[test]
    fn two_dollars_escape_a_reference() {
        assert_eq!(filled("a $${keyring:x} b"), "a ${keyring:x} b");
        assert_eq!(filled("$${ and ${env:A}"), "${ and <env:A>");
        assert!(Template::parse("$${HOME}").unwrap().is_plain());
    }

    #[test]
    fn an_invalid_reference_is_refused_with_a_remedy_and_without_the_surrounding_text() {
        for (text, says) in [
            ("hidden ${keyring:x", "not closed"),
            ("hidden ${HOME}", "${HOME}"),
            ("hidden ${keychain:x}", "${keychain:x}"),
            ("hidden ${keyring:a b}", "a b"),
            ("hidden ${keyring:}", "not a valid name"),
            ("hidden ${keyring:.x}", "not a valid name"),
            ("hidden ${env:}", "does not name a variable"),
            ("hidden ${env:A=B}", "does not name a variable"),
            ("hidden ${file:token}", "relative path"),
        ] {
            let bad = Template::parse(text).unwrap_err();
            assert!(bad.to_string().contains(says), "{bad}");
            assert!(!bad.remedy().is_empty() && !bad.to_string().contains("hidden"), "{bad}");
        }
        assert!(check_name(&"x".repeat(65)).is_err());
    }

    #[test]
    fn a_template_prints_as_it_was_written() {
        let template = Template::parse("Bearer ${keyring:a}").unwrap();
        assert_eq!(format!("{template:?}"), "\"Bearer ${keyring:a}\"");
        assert_eq!(template.literals().collect::<Vec<_>>(), ["Bearer "]);
    }

    fn reference() -> impl Strategy<Value = SecretRef> {
        prop_oneof![
            "[A-Za-z0-9][A-Za-z0-9._-]{0,20}".prop_map(SecretRef::Keyring),
            "[A-Z_]{1,10}".prop_map(SecretRef::Env),
            "/[a-z/ ]{0,20}".prop_map(SecretRef::File),
        ]
    }

    proptest! {
        #[test]
        fn any_text_can_be_escaped(text in ".*") {
            let plain = Template::plain(&text);
            prop_assert!(plain.is_plain());
            for template in [Template::parse(plain.as_written()).unwrap(), plain] {
                let filled = template.fill(|_| Err(())).unwrap();
                prop_assert_eq!(filled.reveal(), text.as_str());
            }
        }

        #[test]
        fn references_round_trip_in_order(
            parts in prop::collection::vec(("[^$]{0,8}", reference()), 0..5),
        ) {
            let text: String =
                parts.iter().map(|(plain, reference)| format!("{plain}{reference}")).collect();
            let template = Template::parse(&text).unwrap();
            prop_assert!(template.references().eq(parts.iter().map(|(_, reference)| reference)));
            let filled = template.fill(|_| Ok::<_, ()>("*".into())).unwrap();
            let wanted: String = parts.iter().map(|(plain, _)| format!("{plain}*")).collect();
            prop_assert_eq!(filled.reveal(), wanted.as_str());
        }

        #[test]
        fn every_error_has_a_text_and_a_remedy(text in ".*") {
            if let Err(bad) = Template::parse(&text) {
                prop_assert!(!bad.to_string().is_empty() && !bad.remedy().is_empty());
            }
        }
    }
}
