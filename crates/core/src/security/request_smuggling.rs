//! Protection against request smuggling in the head of an HTTP request.
//!
//! Bare line feeds, and a body length given both by `Content-Length` and `Transfer-Encoding`, let two
//! parsers read different requests. HTTP libraries tolerate both. Here they are made invalid before
//! the library parses them, so that it refuses the request and closes the connection.

/// Inspects the bytes of one head, in chunks of any size.
#[derive(Clone, Debug, Default)]
pub struct HeadInspector {
    last: u8,
    /// The start of the current line, up to the length of the longest relevant name.
    line: [u8; LONGEST],
    length: usize,
    lines: usize,
    has_length: bool,
    has_encoding: bool,
    ended: bool,
}

const CONTENT_LENGTH: &[u8] = b"content-length:";
const TRANSFER_ENCODING: &[u8] = b"transfer-encoding:";
const LONGEST: usize = TRANSFER_ENCODING.len();
/// A byte that is invalid in every head.
const UNREADABLE: u8 = 0;

impl HeadInspector {
    /// Starts the next head of a connection whose last byte was `last`.
    pub fn after(last: u8) -> Self {
        Self { last, ..Self::default() }
    }

    /// Inspects the next bytes and makes ambiguous ones invalid.
    pub fn harden(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.ended {
                return;
            }
            if self.is_ambiguous(*byte) {
                *byte = UNREADABLE;
                self.ended = true;
            }
            self.last = *byte;
        }
    }

    fn is_ambiguous(&mut self, byte: u8) -> bool {
        match byte {
            b'\n' if self.last != b'\r' => true,
            b'\n' => self.end_of_line(),
            b'\r' => false,
            _ => {
                if let Some(place) = self.line.get_mut(self.length) {
                    *place = byte.to_ascii_lowercase();
                }
                self.length += 1;
                false
            }
        }
    }

    /// Whether the head ends here and gives the body length twice.
    fn end_of_line(&mut self) -> bool {
        // All parsers skip empty lines before a request.
        if self.length == 0 {
            self.ended = self.lines > 0;
            return self.ended && self.has_length && self.has_encoding;
        }
        self.has_length |= self.line.starts_with(CONTENT_LENGTH);
        self.has_encoding |= self.line.starts_with(TRANSFER_ENCODING);
        (self.line, self.length) = ([0; LONGEST], 0);
        self.lines += 1;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head after inspection in chunks of this size.
    fn hardened(text: &str, size: usize) -> String {
        let mut bytes = text.as_bytes().to_vec();
        let mut head = HeadInspector::default();
        bytes.chunks_mut(size).for_each(|chunk| head.harden(chunk));
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_valid_request_and_its_body_are_unchanged() {
        let text = "\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na\nb\r\n\r\nc\n";
        for size in 1..text.len() {
            assert_eq!(hardened(text, size), text);
        }
    }

    #[test]
    fn a_bare_line_feed_is_made_invalid() {
        for text in ["GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\n\n", "\nGET /"]
        {
            for size in 1..text.len() {
                assert!(hardened(text, size).contains('\0'), "{text:?}");
            }
        }
    }

    #[test]
    fn a_body_length_given_twice_is_made_invalid() {
        let both = [
            "POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\nA: b\r\ncontent-LENGTH:4\r\n\r\n",
        ];
        for text in both {
            for size in 1..text.len() {
                assert!(hardened(text, size).ends_with("\r\n\r\0"), "{text:?}");
            }
        }
        let one = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX-Content-Length: 4\r\n\r\n";
        assert_eq!(hardened(one, 3), one);
    }

    #[test]
    fn a_carriage_return_in_the_previous_chunk_counts() {
        let mut rest = *b"\n\r\n";
        HeadInspector::after(b'\r').harden(&mut rest);
        assert_eq!(&rest, b"\n\r\n");
    }
}
