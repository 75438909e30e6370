//! Splits the output of a process into lines, and drops lines that are too long.

use bytes::{Bytes, BytesMut};

use evermoor_core::protocol::envelope::Id;
use evermoor_core::protocol::request_size::IdFinder;

pub(super) const CHUNK: usize = 8 << 10;

/// Splits a byte stream into lines.
pub(super) struct LineSplitter {
    pub(super) buffer: BytesMut,
    /// How much of the buffer is known to hold no newline.
    scanned: usize,
    limit: usize,
    /// Set while a line that is too long is being dropped; looks for its id.
    dropping: Option<IdFinder>,
}

pub(super) enum NextLine {
    Line(Bytes),
    /// A dropped line, with its JSON-RPC id if it had one.
    Dropped(Option<Id>),
}

impl LineSplitter {
    pub(super) fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::with_capacity(CHUNK), scanned: 0, limit, dropping: None }
    }

    /// The next complete line, without its newline.
    pub(super) fn next(&mut self) -> Option<NextLine> {
        let newline = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n');
        let Some(end) = newline.map(|found| self.scanned + found) else {
            self.scanned = self.buffer.len();
            if let Some(finder) = &mut self.dropping {
                finder.feed(&self.buffer);
                self.buffer.clear();
                self.scanned = 0;
            } else if self.buffer.len() > self.limit {
                self.dropping.insert(IdFinder::default()).feed(&self.buffer);
                self.buffer = BytesMut::with_capacity(CHUNK);
                self.scanned = 0;
            }
            return None;
        };
        let line = self.buffer.split_to(end + 1).freeze().slice(..end);
        self.scanned = 0;
        if line.len() > CHUNK {
            // What follows must not keep the memory of a long line in use.
            self.buffer = BytesMut::from(&self.buffer[..]);
        }
        let finder = match self.dropping.take() {
            None if line.len() <= self.limit => return Some(NextLine::Line(line)),
            finder => finder,
        };
        let mut finder = finder.unwrap_or_default();
        finder.feed(&line);
        Some(NextLine::Dropped(finder.id()))
    }

    /// Drops what has arrived of the current line, and the rest as it arrives. A line that is complete
    /// is not dropped. Returns whether one is dropped.
    pub(super) fn drop_line(&mut self) -> bool {
        let complete = self.buffer.contains(&b'\n');
        if !complete {
            self.dropping.get_or_insert_default().feed(&self.buffer);
            self.buffer = BytesMut::with_capacity(CHUNK);
            self.scanned = 0;
        }
        !complete
    }

    /// Whether the current line is being dropped.
    pub(super) fn is_dropping(&self) -> bool {
        self.dropping.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(lines: &mut LineSplitter, chunk: &str) -> Vec<String> {
        lines.buffer.extend_from_slice(chunk.as_bytes());
        let all = std::iter::from_fn(|| lines.next());
        all.map(|next| match next {
            NextLine::Line(line) => String::from_utf8(line.to_vec()).unwrap(),
            NextLine::Dropped(id) => {
                format!("too long: {}", id.map_or("?".into(), |id| id.raw().as_str().to_owned()))
            }
        })
        .collect()
    }

    #[test]
    fn a_line_is_complete_however_it_arrives() {
        let mut lines = LineSplitter::new(100);
        assert!(split(&mut lines, "{\"a\"").is_empty());
        assert_eq!(split(&mut lines, ":1}\r\n\n{"), ["{\"a\":1}\r", ""]);
        assert_eq!(split(&mut lines, "}\n"), ["{}"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_and_the_next_one_read() {
        let mut lines = LineSplitter::new(100);
        assert!(split(&mut lines, "{\"jsonrpc\":\"2.0\",\"id\":42,\"result\":\"").is_empty());
        for _ in 0..100 {
            assert!(split(&mut lines, &"x".repeat(1000)).is_empty());
            assert!(lines.buffer.len() <= 1100);
        }
        assert_eq!(split(&mut lines, "\"}\n{}\n"), ["too long: 42", "{}"]);
        let whole = format!("{{\"result\":\"{}\",\"id\":7}}\n[]\n", "x".repeat(1000));
        assert_eq!(split(&mut lines, &whole), ["too long: 7", "[]"]);
    }

    #[test]
    fn a_line_for_which_there_is_no_room_is_dropped_and_the_next_one_read() {
        let mut lines = LineSplitter::new(100);
        assert!(split(&mut lines, "{\"id\":42,\"result\":\"").is_empty());
        assert!(lines.drop_line());
        assert!(lines.is_dropping() && lines.buffer.is_empty());
        assert_eq!(split(&mut lines, "x\"}\n{}\n"), ["too long: 42", "{}"]);
        assert!(!lines.is_dropping());
    }

    #[test]
    fn the_id_of_a_dropped_line_is_found_at_the_top_level_only() {
        let filler = "x".repeat(600);
        for (line, id) in [
            (format!(r#"{{"id":3,"result":"{filler}"}}"#), "3"),
            (format!(r#"{{"result":"{filler}","id":12,"jsonrpc":"2.0"}} "#), "12"),
            (format!(r#"{{"id":"a","result":"{filler}"}}"#), "\"a\""),
            (format!(r#"{{"result":{{"a":"{filler}","id":12}}}}"#), "?"),
            (format!(r#"{{"result":"{filler}\",\"id\":12}}"#), "?"),
            (filler, "?"),
        ] {
            assert_eq!(
                split(&mut LineSplitter::new(100), &(line + "\n")),
                [format!("too long: {id}")]
            );
        }
    }
}
