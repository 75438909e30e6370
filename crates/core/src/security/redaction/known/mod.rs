//! Secrets in memory, and their removal from texts.
//!
//! A [`Secret`] does not print its value. A [`Redactor`] knows all secrets in use and looks for each
//! one in plain text and encoded: in Base64 at any offset, in hexadecimal, and in text whose
//! percent, JSON and HTML escapes it decodes first ([`escapes`]).
//!
//! A text is scrubbed before it is cut. Where others cut it, [`Redactor::scrub_start`] also
//! removes the beginning of a secret from its end.

mod escapes;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem;

/// A value that must not be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value. The caller must not print it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Replaces a secret.
pub const REDACTED: &str = "[secret]";

/// Shorter values would match unrelated text, so they are not redacted.
pub const MIN_SECRET_LENGTH: usize = 6;

/// Removes the known secrets from texts.
#[derive(Clone, Default)]
pub struct Redactor {
    known: BTreeSet<String>,
    /// Longest first, so that nothing is left of a secret that contains another.
    needles: Vec<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({})", self.known.len())
    }
}

impl Redactor {
    pub const fn new() -> Self {
        Self { known: BTreeSet::new(), needles: Vec::new() }
    }

    /// Adds a secret. Returns whether it is new.
    pub fn hide(&mut self, secret: &Secret) -> bool {
        let value = secret.reveal().trim();
        if value.len() < MIN_SECRET_LENGTH || !self.known.insert(value.to_owned()) {
            return false;
        }
        self.needles.extend(forms(value));
        self.needles.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        self.needles.dedup();
        true
    }

    /// Removes a secret that is no longer in use.
    pub fn forget(&mut self, secret: &Secret) {
        if self.known.remove(secret.reveal().trim()) {
            let kept = std::mem::take(self).known;
            kept.into_iter().for_each(|value| {
                self.hide(&Secret(value));
            });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The text without the known secrets.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for needle in &self.needles {
            if memmem::find(text.as_bytes(), needle.as_bytes()).is_some() {
                text = Cow::Owned(text.replace(needle.as_str(), REDACTED));
            }
        }
        match escapes::scrub(&text, &self.known) {
            Some(scrubbed) => Cow::Owned(scrubbed),
            None => text,
        }
    }

    /// The start of a longer text without the known secrets. If it ends within a secret, that part is
    /// removed too.
    pub fn scrub_start<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = self.scrub(text);
        let overlaps =
            self.needles.iter().map(|needle| overlap(text.as_bytes(), needle.as_bytes()));
        match overlaps.max().unwrap_or(0).max(escapes::begun(&text, &self.known)) {
            begun @ MIN_SECRET_LENGTH.. => {
                let rest = text.floor_char_boundary(text.len() - begun);
                Cow::Owned(format!("{}{REDACTED}", &text[..rest]))
            }
            _ => text,
        }
    }
}

/// How many bytes at the end of a text are the beginning of `needle`.
fn overlap(text: &[u8], needle: &[u8]) -> usize {
    let tail = &text[text.len().saturating_sub(needle.len().saturating_sub(1))..];
    // The search of Knuth, Morris and Pratt, which takes linear time for any secret.
    let mut borders = vec![0; needle.len()];
    let (mut matched, mut at) = (0, 1);
    while at < needle.len() {
        if needle[at] == needle[matched] {
            matched += 1;
            borders[at] = matched;
            at += 1;
        } else if matched > 0 {
            matched = borders[matched - 1];
        } else {
            at += 1;
        }
    }
    tail.iter().fold(0, |mut matched, byte| {
        while matched > 0 && needle[matched] != *byte {
            matched = borders[matched - 1];
        }
        if needle[matched] == *byte { matched + 1 } else { matched }
    })
}

/// The encodings of a value to look for.
fn forms(value: &str) -> Vec<String> {
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let plus = percent_encode(value).replace("%20", "+");
    let mut forms = vec![value.to_owned(), hex.to_uppercase(), hex, plus];
    for alphabet in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        forms.extend((0..3).map(|before| inside_base64(alphabet, value, before)));
    }
    forms.retain(|form| form.len() >= MIN_SECRET_LENGTH);
    forms
}

/// Percent-encodes everything except unreserved characters.
pub fn percent_encode(value: &str) -> String {
    let one = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    value.bytes().map(one).collect()
}

/// The Base64 characters that depend only on the value if `before` bytes precede it.
fn inside_base64(alphabet: &impl base64::Engine, value: &str, before: usize) -> String {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(value.as_bytes());
    let encoded = alphabet.encode(&bytes);
    // The characters at both ends also contain bits of neighbouring bytes.
    let first = (before * 8).div_ceil(6);
    let last = bytes.len() * 8 / 6;
    encoded.get(first..last).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use proptest::prelude::*;

    fn hiding(values: &[&str]) -> Redactor {
        let mut redactor = Redactor::default();
        for value in values {
            redactor.hide(&Secret::new(*value));
        }
        redactor
    }

    #[test]
    fn a_secret_does_not_print_its_value() {
        assert_eq!(format!("{:?}", Secret::new("hidden-value")), "Secret");
        assert!(!format!("{:?}", hiding(&["hidden-value"])).contains("hidden"));
    }

    #[test]
    fn a_secret_is_removed_and_the_rest_is_kept() {
        let redactor = hiding(&["s3cr3t-value"]);
        assert_eq!(redactor.scrub("Bearer s3cr3t-value."), "Bearer [secret].");
        assert!(matches!(redactor.scrub("nothing here"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_secret_that_is_no_longer_used_is_forgotten_and_the_others_are_still_hidden() {
        let mut redactor = hiding(&["old-token-value", "other-token"]);
        redactor.forget(&Secret::new("old-token-value"));
        assert_eq!(redactor.scrub("old-token-value other-token"), "old-token-value [secret]");
        redactor.forget(&Secret::new("never-known"));
        assert_eq!(redactor.scrub("other-token"), "[secret]");
    }

    #[test]
    fn nothing_is_left_of_a_secret_that_contains_another() {
        let redactor = hiding(&["abcdef", "abcdefghijkl"]);
        assert_eq!(redactor.scrub("abcdefghijkl abcdef"), "[secret] [secret]");
    }

    #[test]
    fn a_short_value_is_not_redacted() {
        let redactor = hiding(&["a", "true", ""]);
        assert!(redactor.is_empty());
        assert_eq!(redactor.scrub("a true story"), "a true story");
    }

    #[test]
    fn encoded_secrets_are_found() {
        let value = "pä\"ss/w+rd 1";
        let redactor = hiding(&[value]);
        for shown in [
            STANDARD.encode(format!("user:{value}")),
            URL_SAFE.encode(format!("{value}:x")),
            value.bytes().map(|byte| format!("{byte:02x}")).collect(),
            value.bytes().map(|byte| format!("{byte:02X}")).collect(),
            format!("https://x/?key={}", percent_encode(value)),
            serde_json::json!({ "text": value }).to_string(),
            r#"{"text":"p\u00e4\"ss\/w+rd 1"}"#.to_owned(),
            "p%c3%a4%22ss%2fw%2brd%201".to_owned(),
            "p&auml;p&#228;&quot;ss&#x2F;w&#43;rd 1".to_owned(),
        ] {
            assert!(redactor.scrub(&shown).contains(REDACTED), "{shown}");
        }
    }

    #[test]
    fn escapes_around_a_secret_stay() {
        let redactor = hiding(&["ab/cd/ef"]);
        assert_eq!(redactor.scrub(r"\/x: ab\/cd%2fef &amp; y"), r"\/x: [secret] &amp; y");
        assert_eq!(redactor.scrub("100% & more \\"), "100% & more \\");
    }

    #[test]
    fn nothing_is_left_of_a_secret_at_the_end_of_a_cut_text() {
        let secret = "sk-0123456789/abcdefghij".repeat(200);
        let redactor = hiding(&[&secret]);
        for text in [format!("key {secret}"), format!("key {}", secret.replace('/', "%2F"))] {
            for cut in [12, 300, 2_000] {
                assert_eq!(redactor.scrub_start(&text[..cut]), "key [secret]", "{cut}");
            }
        }
        assert_eq!(redactor.scrub_start("key sk-01"), "key sk-01", "too short to say");
        let repeated = hiding(&["aaaaaaab"]);
        assert_eq!(repeated.scrub_start("aaaaaaaaaa"), "aaa[secret]");
    }

    proptest! {
        #[test]
        fn a_secret_is_found_whatever_surrounds_it(
            value in "[!-~]{6,40}", before in ".{0,12}", after in ".{0,12}",
        ) {
            let redactor = hiding(&[&value]);
            let text = format!("{before}{value}{after}");
            for shown in [
                text.clone(),
                percent_encode(&text),
                text.bytes().map(|byte| format!("{byte:02x}")).collect(),
            ] {
                let left = redactor.scrub(&shown);
                prop_assert!(left.contains(REDACTED));
            }
            let encoded = STANDARD.encode(&text);
            let scrubbed = redactor.scrub(&encoded);
            prop_assert!(scrubbed.contains(REDACTED), "{} {}", encoded, scrubbed);
        }

        #[test]
        fn a_secret_is_found_however_each_of_its_characters_is_written(
            value in "[!-~]{6,20}",
            spellings in prop::collection::vec(0..6_usize, 20),
            before in "[ä%&\\\\;a ]{0,8}",
            after in "[ä%&\\\\;a ]{0,8}",
        ) {
            let spelled: String = value.chars().zip(&spellings).map(|(letter, way)| {
                let code = u32::from(letter);
                match way {
                    0 => format!("%{code:02x}"),
                    1 => format!("%{code:02X}"),
                    2 => format!("\\u{code:04x}"),
                    3 => format!("&#{code};"),
                    4 => format!("&#x{code:X};"),
                    _ => match letter {
                        '\\' | '%' | '&' => format!("%{code:02x}"),
                        letter => letter.to_string(),
                    },
                }
            }).collect();
            // An escape of the text around it could swallow its beginning.
            let shown = format!("{before} {spelled} {after}");
            let left = hiding(&[&value]).scrub(&shown).into_owned();
            prop_assert_eq!(left, format!("{before} {REDACTED} {after}"));
        }

        #[test]
        fn a_text_without_a_secret_is_unchanged(value in "[a-z]{6,20}", text in "[A-Z0-9 ]{0,60}") {
            let redactor = hiding(&[&value]);
            // Digits and capitals may happen to be an encoding of the value.
            let hex: String = value.bytes().map(|byte| format!("{byte:02X}")).collect();
            prop_assume!(!text.contains(&hex));
            if !redactor.needles.iter().any(|needle| text.contains(needle)) {
                prop_assert_eq!(redactor.scrub(&text), text.as_str());
            }
        }
    }
}
