//! Cuts what arrives into lines, and lets go of those that are too long.

use bytes::{Bytes, BytesMut};

/// What is kept of each end of a line that is too long, to find its id in.
const EDGE: usize = 256;
pub(super) const CHUNK: usize = 8 << 10;

/// Cuts what arrives into lines.
pub(super) struct Lines {
    pub(super) buffer: BytesMut,
    /// How much of the buffer is known to hold no newline.
    scanned: usize,
    limit: usize,
    /// The line that is being dropped.
    dropping: Option<Oversized>,
}

/// A line that is too long: its two ends.
pub(super) struct Oversized {
    head: BytesMut,
    tail: BytesMut,
}

pub(super) enum Cut {
    Line(Bytes),
    TooLong(Oversized),
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::with_capacity(CHUNK), scanned: 0, limit, dropping: None }
    }

    /// The next whole line, without its newline.
    pub(super) fn next(&mut self) -> Option<Cut> {
        let newline = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n');
        let Some(end) = newline.map(|found| self.scanned + found) else {
            self.scanned = self.buffer.len();
            if let Some(line) = &mut self.dropping {
                line.push(&self.buffer);
                self.buffer.clear();
                self.scanned = 0;
            } else if self.buffer.len() > self.limit {
                self.dropping = Some(Oversized::starting_with(&self.buffer));
                self.buffer = BytesMut::with_capacity(CHUNK);
                self.scanned = 0;
            }
            return None;
        };
        let line = self.buffer.split_to(end + 1).freeze().slice(..end);
        self.scanned = 0;
        Some(match self.dropping.take() {
            Some(mut dropped) => {
                dropped.push(&line);
                Cut::TooLong(dropped)
            }
            None if line.len() > self.limit => Cut::TooLong(Oversized::starting_with(&line)),
            None => Cut::Line(line),
        })
    }
}

impl Oversized {
    fn starting_with(line: &[u8]) -> Self {
        let mut oversized =
            Self { head: BytesMut::from(&line[..line.len().min(EDGE)]), tail: BytesMut::new() };
        oversized.push(line);
        oversized
    }

    fn push(&mut self, more: &[u8]) {
        let more = &more[more.len().saturating_sub(EDGE)..];
        let spare = (self.tail.len() + more.len()).saturating_sub(EDGE);
        let _ = self.tail.split_to(spare.min(self.tail.len()));
        self.tail.extend_from_slice(more);
    }

    /// The call that this would have answered. Servers write the id first or last; between a comma
    /// or a brace and the end of the message it can be nothing else.
    pub(super) fn number(&self) -> Option<u64> {
        let head = std::str::from_utf8(self.head.trim_ascii_start()).unwrap_or_else(|error| {
            std::str::from_utf8(&self.head[..error.valid_up_to()]).unwrap_or_default()
        });
        let first = ["{\"jsonrpc\":\"2.0\",\"id\":", "{\"id\":"]
            .iter()
            .find_map(|start| head.strip_prefix(start))
            .map(|rest| rest.bytes().take_while(u8::is_ascii_digit).count())
            .and_then(|digits| head.split("\"id\":").nth(1)?.get(..digits)?.parse().ok());
        let last = || {
            let tail = self.tail.trim_ascii_end().strip_suffix(b"}")?;
            let start = tail.len() - tail.iter().rev().take_while(|b| b.is_ascii_digit()).count();
            let before = &tail[..start];
            let member = before.ends_with(b",\"id\":") || before.ends_with(b"{\"id\":");
            member.then(|| std::str::from_utf8(&tail[start..]).ok()?.parse().ok())?
        };
        first.or_else(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(lines: &mut Lines, chunk: &str) -> Vec<String> {
        lines.buffer.extend_from_slice(chunk.as_bytes());
        let cuts = std::iter::from_fn(|| lines.next());
        cuts.map(|cut| match cut {
            Cut::Line(line) => String::from_utf8(line.to_vec()).unwrap(),
            Cut::TooLong(line) => format!("too long: {:?}", line.number()),
        })
        .collect()
    }

    #[test]
    fn a_line_is_whole_however_it_arrives() {
        let mut lines = Lines::new(100);
        assert!(cut(&mut lines, "{\"a\"").is_empty());
        assert_eq!(cut(&mut lines, ":1}\r\n\n{"), ["{\"a\":1}\r", ""]);
        assert_eq!(cut(&mut lines, "}\n"), ["{}"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_and_the_next_one_read() {
        let mut lines = Lines::new(100);
        assert!(cut(&mut lines, "{\"jsonrpc\":\"2.0\",\"id\":42,\"result\":\"").is_empty());
        for _ in 0..100 {
            assert!(cut(&mut lines, &"x".repeat(1000)).is_empty());
            assert!(lines.buffer.len() <= 1100);
        }
        assert_eq!(cut(&mut lines, "\"}\n{}\n"), ["too long: Some(42)", "{}"]);
        let whole = format!("{{\"result\":\"{}\",\"id\":7}}\n[]\n", "x".repeat(1000));
        assert_eq!(cut(&mut lines, &whole), ["too long: Some(7)", "[]"]);
    }

    #[test]
    fn the_call_of_a_lost_answer_is_known_only_if_it_is_certain() {
        let filler = "x".repeat(600);
        let number = |line: String| Oversized::starting_with(line.as_bytes()).number();
        assert_eq!(number(format!(r#"{{"id":3,"result":"{filler}"}}"#)), Some(3));
        assert_eq!(
            number(format!(r#"{{"result":"{filler}","jsonrpc":"2.0","id":12}} "#)),
            Some(12)
        );
        assert_eq!(number(format!(r#"{{"result":{{"a":"{filler}","id":12}}}}"#)), None);
        assert_eq!(number(format!(r#"{{"result":"{filler}\",\"id\":12}}"#)), None);
        assert_eq!(number(format!(r#"{{"id":"a","result":"{filler}"}}"#)), None);
        assert_eq!(number(filler), None);
    }
}
