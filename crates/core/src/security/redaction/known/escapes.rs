//! Finds secrets in text with escapes.
//!
//! One character can be written in many ways: `/` is also `\/`, `\u002f`, `%2F`, `%2f`, `&#47;` and
//! `&#x2F;`. So the text is decoded once, and the secrets are looked for in what it says.

use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;

use super::REDACTED;

/// The text without these secrets, if one is written with escapes in it.
pub(super) fn scrub(text: &str, secrets: &BTreeSet<String>) -> Option<String> {
    if secrets.is_empty() || !may_have_escapes(text) {
        return None;
    }
    let decoded = Decoded::of(text);
    let mut found: Vec<Range<usize>> = secrets
        .iter()
        .flat_map(|secret| {
            let places = memmem::find_iter(&decoded.bytes, secret.as_bytes());
            places.map(|at| at..at + secret.len()).collect::<Vec<_>>()
        })
        .map(|place| decoded.source(place))
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

/// How many bytes at the end of a text are the beginning of one of these secrets, written with escapes.
pub(super) fn begun(text: &str, secrets: &BTreeSet<String>) -> usize {
    if !may_have_escapes(text) {
        return 0;
    }
    let decoded = Decoded::of(text);
    let begun = secrets.iter().map(|secret| {
        let length = super::overlap(&decoded.bytes, secret.as_bytes());
        let start = decoded.source(decoded.bytes.len() - length..decoded.bytes.len()).start;
        if length == 0 { 0 } else { text.len() - start }
    });
    begun.max().unwrap_or(0)
}

fn may_have_escapes(text: &str) -> bool {
    memchr::memchr3(b'%', b'\\', b'&', text.as_bytes()).is_some()
}

/// A text without its escapes. What percent signs encode need not be UTF-8.
struct Decoded<'a> {
    bytes: Vec<u8>,
    source: &'a str,
    /// The parts of `bytes`, in order.
    parts: Vec<DecodedPart>,
}

/// A part of the decoded bytes that comes from one escape, or from text without any.
struct DecodedPart {
    /// Where it begins in the decoded bytes, and in the source.
    start: usize,
    source: usize,
    is_escape: bool,
}

impl<'a> Decoded<'a> {
    fn of(source: &'a str) -> Self {
        let mut decoded =
            Self { bytes: Vec::with_capacity(source.len()), source, parts: Vec::new() };
        // Up to here, everything is decoded.
        let mut at = 0;
        for place in memchr::memchr3_iter(b'%', b'\\', b'&', source.as_bytes()) {
            // It may be a part of the escape before.
            if place < at {
                continue;
            }
            if let Some(escape) = Escape::at_start(&source[place..]) {
                decoded.push(at, false, &source.as_bytes()[at..place]);
                decoded.push(place, true, &escape.bytes[..escape.count]);
                at = place + escape.length;
            }
        }
        decoded.push(at, false, &source.as_bytes()[at..]);
        decoded
    }

    fn push(&mut self, source: usize, is_escape: bool, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.parts.push(DecodedPart { start: self.bytes.len(), source, is_escape });
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// The part of the source that these bytes come from.
    fn source(&self, range: Range<usize>) -> Range<usize> {
        self.place(range.start)..self.place(range.end)
    }

    /// Where a byte begins in the source.
    fn place(&self, byte: usize) -> usize {
        if byte >= self.bytes.len() {
            return self.source.len();
        }
        let after = self.parts.partition_point(|part| part.start <= byte);
        // The first part begins with the first byte.
        let part = &self.parts[after - 1];
        if part.is_escape { part.source } else { part.source + byte - part.start }
    }
}

/// What an escape stands for.
struct Escape {
    bytes: [u8; 4],
    count: usize,
    /// How long it is in the source.
    length: usize,
}

impl Escape {
    fn at_start(text: &str) -> Option<Self> {
        match text.as_bytes() {
            [b'%', ..] => {
                let byte = u8::from_str_radix(digits(text, 1, 2)?, 16).ok()?;
                Some(Self::of_byte(byte, 3))
            }
            [b'\\', b'u', ..] => {
                let code = u32::from_str_radix(digits(text, 2, 4)?, 16).ok()?;
                Self::of_character(code, 6)
            }
            [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] => Some(Self::of_byte(*byte, 2)),
            [b'&', ..] => entity(text),
            _ => None,
        }
    }

    fn of_byte(byte: u8, length: usize) -> Self {
        Self { bytes: [byte, 0, 0, 0], count: 1, length }
    }

    fn of_character(code: u32, length: usize) -> Option<Self> {
        let mut bytes = [0; 4];
        let count = char::from_u32(code)?.encode_utf8(&mut bytes).len();
        Some(Self { bytes, count, length })
    }
}

/// Hexadecimal digits at a place.
fn digits(text: &str, at: usize, count: usize) -> Option<&str> {
    text.get(at..at + count).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The longest entity, such as `&#1114111;`.
const LONGEST_ENTITY: usize = 10;

/// The HTML entity at the start of a text.
fn entity(text: &str) -> Option<Escape> {
    let end = text.bytes().take(LONGEST_ENTITY).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let byte = match name {
        "amp" => b'&',
        "lt" => b'<',
        "gt" => b'>',
        "quot" => b'"',
        "apos" => b'\'',
        "sol" => b'/',
        "plus" => b'+',
        "equals" => b'=',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            return Escape::of_character(code, end + 1);
        }
    };
    Some(Escape::of_byte(byte, end + 1))
}
