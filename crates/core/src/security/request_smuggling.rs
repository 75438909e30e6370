//! Protection against request smuggling in the requests of a connection.
//!
//! Bare line feeds, and a body length given both by `Content-Length` and `Transfer-Encoding`, let two
//! parsers read different requests. HTTP libraries tolerate both. Here they are made invalid before
//! the library parses them, so that it refuses the request and closes the connection.
//!
//! # Theory of operation
//! A client may send its next request before the last one is answered. So every byte is inspected,
//! and the inspector follows the bodies to know where the next head begins. It accepts less than the
//! library: what it does not understand exactly, such as a chunk extension, is invalid. After an invalid
//! byte, every byte is.

/// Inspects the bytes of one connection, in chunks of any size.
#[derive(Clone, Debug, Default)]
pub struct RequestInspector {
    part: RequestPart,
    /// The last byte was a carriage return, so a line feed must follow.
    returned: bool,
    line: HeadLine,
    /// How many lines of the head are complete.
    lines: usize,
    body: Option<BodyLength>,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RequestPart {
    #[default]
    Head,
    /// A body with a length, of which so much is left.
    Body(u64),
    ChunkSize {
        size: u64,
        digits: usize,
    },
    Chunk(u64),
    /// The line break after a chunk.
    ChunkEnd,
    Trailers,
    Invalid,
}

/// How a head gives the length of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyLength {
    Known(u64),
    Chunked,
}

/// The start of the current line, up to the longest one that matters.
#[derive(Clone, Debug)]
struct HeadLine {
    start: [u8; LONGEST],
    length: usize,
}

const CONTENT_LENGTH: &[u8] = b"content-length:";
const TRANSFER_ENCODING: &[u8] = b"transfer-encoding:";
/// Longer than a name, the largest length and some spaces.
const LONGEST: usize = 64;
/// A byte that is invalid everywhere but in a body.
const UNREADABLE: u8 = 0;
/// Larger sizes do not fit into 64 bits.
const MAX_SIZE_DIGITS: usize = 16;

impl RequestInspector {
    /// Inspects the next bytes and makes ambiguous ones invalid.
    pub fn harden(&mut self, bytes: &mut [u8]) {
        let mut rest = bytes;
        loop {
            match &mut self.part {
                RequestPart::Body(left) | RequestPart::Chunk(left) if *left > 0 => {
                    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    *left -= count as u64;
                    rest = &mut rest[count..];
                    if *left > 0 {
                        return;
                    }
                }
                RequestPart::Body(_) => self.part = RequestPart::Head,
                RequestPart::Chunk(_) => self.part = RequestPart::ChunkEnd,
                RequestPart::Invalid => return rest.fill(UNREADABLE),
                RequestPart::Head
                | RequestPart::ChunkSize { .. }
                | RequestPart::ChunkEnd
                | RequestPart::Trailers => {
                    let Some((byte, after)) = rest.split_first_mut() else { return };
                    if self.next(*byte).is_none() {
                        *byte = UNREADABLE;
                        self.part = RequestPart::Invalid;
                    }
                    rest = after;
                }
            }
        }
    }

    /// Takes a byte that is not in a body. `None` if it is ambiguous.
    fn next(&mut self, byte: u8) -> Option<()> {
        match (byte, self.returned) {
            (b'\n', true) => {
                self.returned = false;
                self.part = self.after_line()?;
                self.line = HeadLine::default();
                Some(())
            }
            (b'\r', false) => {
                self.returned = true;
                Some(())
            }
            (b'\n', false) | (_, true) => None,
            (byte, false) => self.within_line(byte),
        }
    }

    fn within_line(&mut self, byte: u8) -> Option<()> {
        match &mut self.part {
            RequestPart::ChunkSize { size, digits } => {
                let digit = char::from(byte).to_digit(16)?;
                *digits += 1;
                *size = (*size << 4) | u64::from(digit);
                (*digits <= MAX_SIZE_DIGITS).then_some(())
            }
            RequestPart::Head | RequestPart::Trailers => {
                self.line.push(byte);
                Some(())
            }
            RequestPart::ChunkEnd
            | RequestPart::Body(_)
            | RequestPart::Chunk(_)
            | RequestPart::Invalid => None,
        }
    }

    /// What follows the line that ends here.
    fn after_line(&mut self) -> Option<RequestPart> {
        match self.part {
            // All parsers skip empty lines before a request.
            RequestPart::Head if self.line.length == 0 && self.lines == 0 => {
                Some(RequestPart::Head)
            }
            RequestPart::Head if self.line.length == 0 => {
                self.lines = 0;
                Some(match self.body.take() {
                    Some(BodyLength::Known(length)) => RequestPart::Body(length),
                    Some(BodyLength::Chunked) => RequestPart::ChunkSize { size: 0, digits: 0 },
                    None => RequestPart::Head,
                })
            }
            RequestPart::Head => {
                self.lines += 1;
                if let Some(body) = self.line.body_length() {
                    // A second one may contradict the first.
                    let first = self.body.replace(body?).is_none();
                    return first.then_some(RequestPart::Head);
                }
                Some(RequestPart::Head)
            }
            RequestPart::ChunkSize { digits: 0, .. } => None,
            RequestPart::ChunkSize { size: 0, .. } => Some(RequestPart::Trailers),
            RequestPart::ChunkSize { size, .. } => Some(RequestPart::Chunk(size)),
            RequestPart::ChunkEnd => Some(RequestPart::ChunkSize { size: 0, digits: 0 }),
            RequestPart::Trailers if self.line.length == 0 => Some(RequestPart::Head),
            RequestPart::Trailers => Some(RequestPart::Trailers),
            RequestPart::Body(_) | RequestPart::Chunk(_) | RequestPart::Invalid => None,
        }
    }
}

impl Default for HeadLine {
    fn default() -> Self {
        Self { start: [0; LONGEST], length: 0 }
    }
}

impl HeadLine {
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.start.get_mut(self.length) {
            *place = byte.to_ascii_lowercase();
        }
        self.length += 1;
    }

    /// `None` if this line says nothing about the body, `Some(None)` if what it says is not understood.
    fn body_length(&self) -> Option<Option<BodyLength>> {
        let value = |name: &[u8]| {
            let value =
                self.start.starts_with(name).then(|| self.start.get(name.len()..self.length));
            // What is longer than the buffer is not understood.
            value.map(|value| value.map(<[u8]>::trim_ascii))
        };
        if let Some(value) = value(TRANSFER_ENCODING) {
            return Some((value == Some(b"chunked")).then_some(BodyLength::Chunked));
        }
        let length = value(CONTENT_LENGTH)?;
        let digits = length.filter(|value| value.iter().all(u8::is_ascii_digit));
        let digits = digits.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok());
        Some(digits.map(BodyLength::Known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bytes after inspection in chunks of this size.
    fn hardened(text: &str, size: usize) -> String {
        let mut bytes = text.as_bytes().to_vec();
        let mut inspector = RequestInspector::default();
        bytes.chunks_mut(size).for_each(|chunk| inspector.harden(chunk));
        String::from_utf8(bytes).unwrap()
    }

    const VALID: [&str; 5] = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na\nb\r\n\r\nc\n",
        "POST / HTTP/1.1\r\ncontent-length:0\r\nX-Content-Length: 4\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked \r\n\r\n4\r\na\nb\n\r\nA\r\n\r\n\r\n123456\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n00\r\nContent-Length: 4\r\n\r\n",
    ];

    /// Heads and chunks that two parsers may read differently.
    const AMBIGUOUS: [&str; 14] = [
        "GET / HTTP/1.1\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\n\n",
        "\nGET /",
        "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\nA: b\r\ncontent-LENGTH:4\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: +4\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcdef\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n00000000000000001\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\r\n",
    ];

    #[test]
    fn valid_requests_and_their_bodies_are_unchanged() {
        let all = VALID.concat();
        for size in 1..all.len() {
            assert_eq!(hardened(&all, size), all);
        }
    }

    #[test]
    fn an_ambiguous_request_is_made_invalid_with_everything_that_follows() {
        for text in AMBIGUOUS {
            for size in 1..text.len() {
                let made = hardened(&format!("{text}GET /"), size);
                assert!(made.ends_with("\0\0\0\0\0"), "{text:?}: {made:?}");
            }
        }
    }

    #[test]
    fn a_name_or_value_of_any_length_is_read_in_place() {
        let padded = format!("POST / HTTP/1.1\r\nContent-Length:{}4\r\n\r\n", " ".repeat(100));
        assert!(hardened(&padded, 7).contains('\0'), "not understood");
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(100_000));
        assert_eq!(hardened(&long, 1000), long);
    }

    proptest! {
        #[test]
        fn a_request_behind_others_is_judged_as_if_it_were_the_first(
            before in prop::collection::vec(0..VALID.len(), 0..4),
            last in 0..AMBIGUOUS.len(),
            size in 1..200_usize,
        ) {
            let valid: String = before.iter().map(|number| VALID[*number]).collect();
            let made = hardened(&format!("{valid}{}", AMBIGUOUS[last]), size);
            prop_assert_eq!(&made[..valid.len()], valid.as_str());
            let alone = hardened(AMBIGUOUS[last], size);
            prop_assert_eq!(&made[valid.len()..], alone.as_str());
        }
    }
}
