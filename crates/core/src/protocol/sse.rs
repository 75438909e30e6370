//! Server-sent events, parsed from chunks as they arrive.
//!
//! Chunks may end anywhere, and lines end in any of the three ways that the standard allows. An
//! event without its closing empty line is dropped: a stream that breaks inside an event must not
//! look like a short response. The names of events and their ids are short, because each event carries
//! them and a budget counts only its data.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

/// One complete event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event` field, or empty for the default `message`.
    pub kind: String,
    /// The `data` lines, joined by line feeds.
    pub data: Bytes,
    /// The last `id` seen on this stream, for resuming it. All events with this id share it.
    pub id: Option<Arc<str>>,
}

/// A longer `id` is ignored, like one that the standard does not allow.
const LONGEST_ID: usize = 1 << 10;
/// A longer `event` is cut. No event that is known has one.
const LONGEST_KIND: usize = 64;
/// The memory of a longer line or event is not used again: small events after it must not keep it.
const LARGE: usize = 16 << 10;

/// An event is larger than the parser's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {limit} bytes")]
pub struct TooLarge {
    pub limit: usize,
}

/// Parses chunks into events.
#[derive(Debug)]
pub struct SseParser {
    limit: usize,
    line: BytesMut,
    after_cr: bool,
    started: bool,
    kind: String,
    data: BytesMut,
    has_data: bool,
    id: Option<Arc<str>>,
    retry: Option<u64>,
}

impl SseParser {
    /// A parser that buffers at most `limit` bytes of an unfinished event.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: BytesMut::new(),
            after_cr: false,
            started: false,
            kind: String::new(),
            data: BytesMut::new(),
            has_data: false,
            id: None,
            retry: None,
        }
    }

    /// The reconnection time the server asked for, in milliseconds.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// How many bytes of an unfinished event are buffered.
    pub fn buffered(&self) -> usize {
        self.line.len() + self.data.len()
    }

    /// Parses a chunk and returns the events that it completed.
    pub fn push(&mut self, chunk: &[u8]) -> Result<Vec<SseEvent>, TooLarge> {
        let mut events = Vec::new();
        let mut rest = chunk;
        if self.after_cr && rest.first() == Some(&b'\n') {
            rest = &rest[1..];
        }
        if !rest.is_empty() {
            self.after_cr = false;
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&rest[..end]);
            let crlf = rest[end] == b'\r' && rest.get(end + 1) == Some(&b'\n');
            self.after_cr = rest[end] == b'\r' && end + 1 == rest.len();
            rest = &rest[end + 1 + usize::from(crlf)..];
            let line = split(&mut self.line);
            events.extend(self.line(&line));
        }
        self.line.extend_from_slice(rest);
        if self.buffered() > self.limit {
            return Err(TooLarge { limit: self.limit });
        }
        Ok(events)
    }

    fn line(&mut self, line: &Bytes) -> Option<SseEvent> {
        let line = if self.started {
            &line[..]
        } else {
            line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
        };
        self.started = true;
        if line.is_empty() {
            return self.finish();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => {
                if self.has_data {
                    self.data.extend_from_slice(b"\n");
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => {
                let kind = &value[..value.len().min(LONGEST_KIND)];
                self.kind = String::from_utf8_lossy(kind).into_owned();
            }
            b"id" if value.len() <= LONGEST_ID && !value.contains(&0) => {
                self.id = Some(String::from_utf8_lossy(value).into());
            }
            b"retry" => {
                self.retry = std::str::from_utf8(value)
                    .ok()
                    .and_then(|text| text.parse().ok())
                    .or(self.retry)
            }
            _ => {}
        }
        None
    }

    fn finish(&mut self) -> Option<SseEvent> {
        let kind = std::mem::take(&mut self.kind);
        let data = split(&mut self.data);
        let has_data = std::mem::take(&mut self.has_data);
        has_data.then(|| SseEvent { kind, data, id: self.id.clone() })
    }
}

/// Takes everything out of a buffer.
fn split(buffer: &mut BytesMut) -> Bytes {
    let taken = buffer.split().freeze();
    if taken.len() > LARGE {
        *buffer = BytesMut::new();
    }
    taken
}

/// Writes one event. Each line of the data becomes a `data` field, however it ends: in JSON, a line
/// break can only be white space between two tokens.
pub fn write(kind: Option<&str>, id: Option<&str>, data: &[u8]) -> Bytes {
    let mut text = BytesMut::with_capacity(data.len() + 48);
    if let Some(kind) = kind {
        text.extend_from_slice(format!("event: {kind}\n").as_bytes());
    }
    if let Some(id) = id {
        text.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    let mut rest = data;
    loop {
        let end = memchr::memchr2(b'\n', b'\r', rest);
        text.extend_from_slice(b"data: ");
        text.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
        text.extend_from_slice(b"\n");
        let Some(end) = end else { break };
        let crlf = rest[end..].starts_with(b"\r\n");
        rest = &rest[end + 1 + usize::from(crlf)..];
    }
    text.extend_from_slice(b"\n");
    text.freeze()
}

/// A comment that keeps the connection alive.
pub const KEEPALIVE: Bytes = Bytes::from_static(b": keepalive\n\n");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(chunks: &[&str]) -> Vec<SseEvent> {
        let mut parser = SseParser::new(1 << 20);
        chunks.iter().flat_map(|chunk| parser.push(chunk.as_bytes()).unwrap()).collect()
    }

    fn data(events: &[SseEvent]) -> Vec<&[u8]> {
        events.iter().map(|event| &event.data[..]).collect()
    }

    #[test]
    fn an_empty_line_ends_an_event_with_any_line_ending() {
        for text in
            ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r"]
        {
            assert_eq!(data(&events(&[text])), [b"a", b"b"], "{text:?}");
        }
    }

    #[test]
    fn an_unfinished_event_is_dropped() {
        assert!(events(&["data: {\"id\":1}\n"]).is_empty());
    }

    #[test]
    fn data_lines_are_joined_and_comments_skipped() {
        assert_eq!(data(&events(&[": hello\n\ndata: a\ndata:b\n\n"])), [b"a\nb"]);
    }

    #[test]
    fn an_event_without_data_is_dropped_but_its_id_counts() {
        let found = events(&["id: 7\n\nevent: x\ndata: 1\n\n"]);
        assert_eq!(
            found,
            [SseEvent { kind: "x".into(), data: Bytes::from_static(b"1"), id: Some("7".into()) }]
        );
    }

    #[test]
    fn an_id_that_is_too_long_is_ignored_and_events_share_theirs() {
        let long = "x".repeat(LONGEST_ID + 1);
        let found = events(&["id: 1\ndata: a\n\nid: ", &long, "\ndata: b\n\n", "data: c\n\n"]);
        let ids: Vec<_> = found.iter().map(|event| event.id.clone().unwrap()).collect();
        assert_eq!(&*ids[0], "1");
        assert!(ids.iter().all(|id| Arc::ptr_eq(id, &ids[0])), "{ids:?}");
    }

    #[test]
    fn the_name_of_an_event_is_cut() {
        let long = "x".repeat(LONGEST_ID);
        let found = events(&["event: ", &long, "\ndata: a\n\n"]);
        assert_eq!(found[0].kind, "x".repeat(LONGEST_KIND));
    }

    #[test]
    fn a_small_event_does_not_keep_the_memory_of_a_large_one() {
        let mut parser = SseParser::new(1 << 24);
        let large = format!("data: {}\n\n", "x".repeat(1 << 20));
        let large = parser.push(large.as_bytes()).unwrap().remove(0).data;
        let end = large.as_ptr_range().end;
        let small = parser.push(b"data: 1\n\n").unwrap().remove(0).data;
        assert_ne!(small.as_ptr(), end, "it is in a buffer of its own");
        assert!(parser.line.capacity() < 1 << 20 && parser.data.capacity() < 1 << 20);
    }

    #[test]
    fn a_line_over_the_limit_is_an_error() {
        let mut parser = SseParser::new(64);
        assert_eq!(parser.push(&[b'x'; 65]), Err(TooLarge { limit: 64 }));
    }

    #[test]
    fn a_line_break_of_any_kind_in_the_data_does_not_end_the_event() {
        for break_ in ["\r", "\n", "\r\n", "\r\r", "\r\r\n", "\n\r"] {
            let json = format!("{{\"a\":1,{break_}\"b\":2{break_}}}");
            let mut parser = SseParser::new(1 << 20);
            let read = parser.push(&write(None, None, json.as_bytes())).unwrap();
            assert_eq!(read.len(), 1, "{json:?}");
            let value: serde_json::Value = serde_json::from_slice(&read[0].data).unwrap();
            assert_eq!(value, serde_json::json!({ "a": 1, "b": 2 }));
        }
    }

    proptest! {
        #[test]
        fn chunk_boundaries_make_no_difference(
            lines in prop::collection::vec("(data|event|id|retry|)(:| |)[a-z0-9]{0,4}(\n|\r|\r\n)", 0..12),
            cut in 0_usize..200,
        ) {
            let text = lines.concat() + "\n\n";
            let cut = cut.min(text.len());
            prop_assert_eq!(events(&[&text]), events(&[&text[..cut], &text[cut..]]));
        }

        #[test]
        fn a_written_event_is_read_back(payload: String) {
            let payload = serde_json::to_vec(&payload).unwrap();
            let mut parser = SseParser::new(1 << 20);
            let read = parser.push(&write(None, Some("1"), &payload)).unwrap();
            prop_assert_eq!(&read[0].data[..], &payload[..]);
        }
    }
}
