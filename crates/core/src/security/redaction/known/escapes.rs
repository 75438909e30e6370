//! Finds secrets in text with escapes.
//!
//! One character can be written in many ways: `/` is also `\/`, `\u002f`, `%2F`, `%2f`, `&#47;` and
//! `&#x2F;`. So the text is decoded once, and the secrets are looked for in what it says.

use std::collections::BTreeSet;
use std::ops::Range;

use super::REDACTED;

/// The text without these secrets, if one is written with escapes in it.
pub(super) fn scrub(text: &str, secrets: &BTreeSet<String>) -> Option<String> {
    if secrets.is_empty() || !text.contains(['%', '\\', '&']) {
        return None;
    }
    let decoded = Decoded::of(text);
    let mut found: Vec<Range<usize>> = secrets
        .iter()
        .flat_map(|secret| {
            let secret = latin(secret.as_bytes());
            let places = decoded.text.match_indices(&secret).map(|(at, _)| at).collect::<Vec<_>>();
            places.into_iter().map(move |at| (at, at + secret.len()))
        })
        .map(|(start, end)| decoded.source(start..end))
        .collect();
    found.sort_by_key(|range| range.start);
    let (mut made, mut copied) = (String::new(), 0);
    for range in found {
        if range.start >= copied {
            made.push_str(&text[copied..range.start]);
            made.push_str(REDACTED);
        }
        copied = copied.max(range.end);
    }
    (copied > 0).then(|| made + &text[copied..])
}

/// How many bytes at the end of a text are the beginning of `secret`, written with escapes.
pub(super) fn begun(text: &str, secret: &str) -> usize {
    if !text.contains(['%', '\\', '&']) {
        return 0;
    }
    let decoded = Decoded::of(text);
    let length = super::overlap(&decoded.text, &latin(secret.as_bytes()));
    let start = decoded.source(decoded.text.len() - length..decoded.text.len()).start;
    if length == 0 { 0 } else { text.len() - start }
}

/// A text without its escapes. Each byte is one character, so that escaped bytes need not be UTF-8.
struct Decoded {
    text: String,
    /// For each byte of `text`, where it begins in the source; then the length of the source.
    starts: Vec<usize>,
}

impl Decoded {
    fn of(source: &str) -> Self {
        let mut decoded = Self { text: String::with_capacity(source.len()), starts: Vec::new() };
        let mut at = 0;
        while let Some(letter) = source[at..].chars().next() {
            let (letter, length) = escape(&source[at..]).unwrap_or_else(|| {
                let mut bytes = [0; 4];
                (letter.encode_utf8(&mut bytes).as_bytes().to_vec(), letter.len_utf8())
            });
            decoded.text.push_str(&latin(&letter));
            decoded.starts.resize(decoded.text.len(), at);
            at += length;
        }
        decoded.starts.push(source.len());
        decoded
    }

    /// The part of the source that these bytes come from.
    fn source(&self, range: Range<usize>) -> Range<usize> {
        self.starts[range.start]..self.starts[range.end]
    }
}

/// The bytes as characters of the same number.
fn latin(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The bytes of the escape at the start of a text, and its length.
fn escape(text: &str) -> Option<(Vec<u8>, usize)> {
    match text.as_bytes() {
        [b'%', ..] => {
            let byte = u8::from_str_radix(digits(text, 1, 2)?, 16).ok()?;
            Some((vec![byte], 3))
        }
        [b'\\', b'u', ..] => {
            let code = u32::from_str_radix(digits(text, 2, 4)?, 16).ok()?;
            Some((utf8(code)?, 6))
        }
        [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] => Some((vec![*byte], 2)),
        [b'&', ..] => entity(text),
        _ => None,
    }
}

/// Hexadecimal digits at a place.
fn digits(text: &str, at: usize, count: usize) -> Option<&str> {
    text.get(at..at + count).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn utf8(code: u32) -> Option<Vec<u8>> {
    char::from_u32(code).map(|letter| letter.to_string().into_bytes())
}

/// The longest entity, such as `&#1114111;`.
const LONGEST_ENTITY: usize = 10;

/// The character of the HTML entity at the start of a text, and its length.
fn entity(text: &str) -> Option<(Vec<u8>, usize)> {
    let end = text.bytes().take(LONGEST_ENTITY).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let letter = match name {
        "amp" => vec![b'&'],
        "lt" => vec![b'<'],
        "gt" => vec![b'>'],
        "quot" => vec![b'"'],
        "apos" => vec![b'\''],
        "sol" => vec![b'/'],
        "plus" => vec![b'+'],
        "equals" => vec![b'='],
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            utf8(code)?
        }
    };
    Some((letter, end + 1))
}
