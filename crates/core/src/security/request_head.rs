//! The head of an HTTP request, where two readers could read two different requests.
//!
//! A line that ends with a bare line feed, and a body whose length is given in two ways, are the
//! tools of request smuggling. HTTP libraries forgive both. Here they are made unreadable before
//! the library sees them, so that it refuses the request and closes the connection.

/// Follows the bytes of one head, however they are cut.
#[derive(Clone, Debug, Default)]
pub struct Head {
    last: u8,
    /// The beginning of the line, as far as a name of interest is long.
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
/// No request may hold this byte.
const UNREADABLE: u8 = 0;

impl Head {
    /// The head that follows on a connection whose last byte was `last`.
    pub fn after(last: u8) -> Self {
        Self { last, ..Self::default() }
    }

    /// Looks at the next bytes and makes unreadable what could be read in two ways.
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

    /// Whether the head ends here and gives the length of its body in two ways.
    fn end_of_line(&mut self) -> bool {
        // Empty lines before a request are skipped by everybody.
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

    /// What is left of a head that comes in pieces of this size.
    fn hardened(text: &str, size: usize) -> String {
        let mut bytes = text.as_bytes().to_vec();
        let mut head = Head::default();
        bytes.chunks_mut(size).for_each(|chunk| head.harden(chunk));
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_plain_request_is_left_as_it_is_and_so_is_its_body() {
        let text = "\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na\nb\r\n\r\nc\n";
        for size in 1..text.len() {
            assert_eq!(hardened(text, size), text);
        }
    }

    #[test]
    fn a_bare_line_feed_is_unreadable_wherever_it_stands() {
        for text in ["GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\n\n", "\nGET /"]
        {
            for size in 1..text.len() {
                assert!(hardened(text, size).contains('\0'), "{text:?}");
            }
        }
    }

    #[test]
    fn a_length_given_in_two_ways_is_unreadable() {
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
    fn a_carriage_return_that_came_before_still_counts() {
        let mut rest = *b"\n\r\n";
        Head::after(b'\r').harden(&mut rest);
        assert_eq!(&rest, b"\n\r\n");
    }
}
