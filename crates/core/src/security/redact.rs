//! Secrets in memory, and taking them out of whatever a person or a program may read.
//!
//! A [`Secret`] prints nothing of itself. A [`Redactor`] knows every secret that was used and looks
//! for each as it is and as it may have been written down by somebody else: in Base64 at any place
//! of a longer text, in hexadecimal digits, in an address, in JSON.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// A value that must not be seen.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value. Whoever asks for it must not show it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// What stands where a secret stood.
pub const REDACTED: &str = "[secret]";

/// A shorter value is found in texts that have nothing to do with it, and hides nothing.
pub const SHORTEST: usize = 6;

/// Takes the secrets that it knows out of texts.
#[derive(Clone, Default)]
pub struct Redactor {
    known: BTreeSet<String>,
    /// Longer ones first, so that nothing is left of one that contains another.
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

    /// Hides this value from now on. Says whether it was new.
    pub fn hide(&mut self, secret: &Secret) -> bool {
        let value = secret.reveal().trim();
        if value.len() < SHORTEST || !self.known.insert(value.to_owned()) {
            return false;
        }
        self.needles.extend(forms(value));
        self.needles.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        self.needles.dedup();
        true
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The text without any of them.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for needle in &self.needles {
            if text.contains(needle.as_str()) {
                text = Cow::Owned(text.replace(needle.as_str(), REDACTED));
            }
        }
        text
    }
}

/// A value as it may have been written down.
fn forms(value: &str) -> Vec<String> {
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let json = serde_json::to_string(value).unwrap_or_default();
    let mut forms = vec![
        value.to_owned(),
        hex.to_uppercase(),
        hex,
        percent(value),
        percent(value).replace("%20", "+"),
        json.trim_matches('"').to_owned(),
    ];
    for alphabet in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        forms.extend((0..3).map(|before| inside_base64(alphabet, value, before)));
    }
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

/// A value as it stands in an address: only what can be nothing else is left as it is.
pub fn percent(value: &str) -> String {
    let one = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    value.bytes().map(one).collect()
}

/// What is always the same of a value that was encoded behind so many other bytes.
fn inside_base64(alphabet: &impl base64::Engine, value: &str, before: usize) -> String {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(value.as_bytes());
    let encoded = alphabet.encode(&bytes);
    // Characters at both ends are made of neighbours' bits too.
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
    fn a_secret_prints_nothing_of_itself() {
        assert_eq!(format!("{:?}", Secret::new("hidden-value")), "Secret");
        assert!(!format!("{:?}", hiding(&["hidden-value"])).contains("hidden"));
    }

    #[test]
    fn a_secret_is_taken_out_and_the_rest_stays() {
        let redactor = hiding(&["s3cr3t-value"]);
        assert_eq!(redactor.scrub("Bearer s3cr3t-value."), "Bearer [secret].");
        assert!(matches!(redactor.scrub("nothing here"), Cow::Borrowed(_)));
    }

    #[test]
    fn one_that_contains_another_leaves_nothing() {
        let redactor = hiding(&["abcdef", "abcdefghijkl"]);
        assert_eq!(redactor.scrub("abcdefghijkl abcdef"), "[secret] [secret]");
    }

    #[test]
    fn a_short_value_is_not_looked_for() {
        let redactor = hiding(&["a", "true", ""]);
        assert!(redactor.is_empty());
        assert_eq!(redactor.scrub("a true story"), "a true story");
    }

    #[test]
    fn what_others_made_of_it_is_found_too() {
        let value = "pä\"ss/w+rd 1";
        let redactor = hiding(&[value]);
        for shown in [
            STANDARD.encode(format!("user:{value}")),
            URL_SAFE.encode(format!("{value}:x")),
            value.bytes().map(|byte| format!("{byte:02x}")).collect(),
            value.bytes().map(|byte| format!("{byte:02X}")).collect(),
            format!("https://x/?key={}", percent(value)),
            serde_json::json!({ "text": value }).to_string(),
        ] {
            assert!(redactor.scrub(&shown).contains(REDACTED), "{shown}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_left_of_a_secret_whatever_stands_around_it(
            value in "[!-~]{6,40}", before in ".{0,12}", after in ".{0,12}",
        ) {
            let redactor = hiding(&[&value]);
            let text = format!("{before}{value}{after}");
            for shown in [
                text.clone(),
                percent(&text),
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
        fn a_text_without_a_secret_is_left_alone(value in "[a-z]{6,20}", text in "[A-Z0-9 ]{0,60}") {
            let redactor = hiding(&[&value]);
            // Digits and capitals alone may still be how something else encodes it.
            let hex: String = value.bytes().map(|byte| format!("{byte:02X}")).collect();
            prop_assume!(!text.contains(&hex));
            if !redactor.needles.iter().any(|needle| text.contains(needle)) {
                prop_assert_eq!(redactor.scrub(&text), text.as_str());
            }
        }
    }
}
