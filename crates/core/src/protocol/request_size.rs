//! How large a request may be, and the id of one that is larger.
//!
//! The sender of a larger one waits for a response, which needs the id. So the message is scanned as it arrives,
//! and only the id is kept.

use bytes::Bytes;

use crate::protocol::envelope::Id;
use crate::protocol::json::Raw;

/// The gateway accepts no larger request, over HTTP or from a shim.
pub const MAX_REQUEST_BYTES: usize = 4 << 20;

/// Scans a JSON object chunk by chunk for its member `id`.
#[derive(Default)]
pub struct IdFinder {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The string or number at the top level that is being read.
    token: Vec<u8>,
    /// The current member is `id`.
    is_id: bool,
    /// The current token is a value, not a key.
    is_value: bool,
    found: Option<Vec<u8>>,
}

/// Longer ids are not supported.
const MAX_LENGTH: usize = 1024;

impl IdFinder {
    /// Scans the next chunk.
    pub fn feed(&mut self, chunk: &[u8]) {
        for byte in chunk {
            self.step(*byte);
        }
    }

    /// The id, if the message had one.
    pub fn id(mut self) -> Option<Id> {
        self.end_of_value();
        Id::from_raw(Raw::parse(Bytes::from(self.found?)).ok()?)
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.token.clear();
            }
            b'}' | b']' => {
                self.end_of_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.is_id = self.token == b"\"id\"";
                self.is_value = true;
                self.token.clear();
            }
            b',' => self.end_of_value(),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < MAX_LENGTH {
            self.token.push(byte);
        }
    }

    fn end_of_value(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.is_id && self.is_value && !self.token.is_empty() {
            self.found = Some(std::mem::take(&mut self.token));
        }
        (self.is_id, self.is_value) = (false, false);
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(chunks: &[&[u8]]) -> Option<String> {
        let mut finder = IdFinder::default();
        chunks.iter().for_each(|chunk| finder.feed(chunk));
        finder.id().map(|id| id.raw().as_str().to_owned())
    }

    #[test]
    fn only_the_top_level_id_is_found() {
        let text = |text: &str| found(&[text.as_bytes()]);
        assert_eq!(text(r#"{"id":7,"params":{"id":8}}"#).as_deref(), Some("7"));
        assert_eq!(
            text(r#"{"params":{"id":[8,"id"]}, "id" : "a\"b" }"#).as_deref(),
            Some(r#""a\"b""#)
        );
        assert_eq!(text(r#"{"method":"id","params":["id",{"id":1}]}"#), None);
        assert_eq!(text(r#"{"id":null}"#), None);
        assert_eq!(text("nonsense"), None);
        assert_eq!(found(&[b"{\"i", b"d\":", b"4", b"2}"]).as_deref(), Some("42"));
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<i32>().prop_map(Into::into),
            ".*".prop_map(Into::into),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::btree_map("id|a|[\"\\\\{}:,]{1,3}", inner, 0..4)
                    .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_id_is_found_wherever_the_chunks_end(params in json(), id in any::<u32>(), cut in 0_usize..200) {
            let message = serde_json::json!({ "a": params, "id": id, "z": params }).to_string();
            let cut = cut.min(message.len());
            let (one, other) = message.as_bytes().split_at(cut);
            prop_assert_eq!(found(&[one, other]), Some(id.to_string()));
            let without = serde_json::json!({ "a": params, "z": [params] }).to_string();
            prop_assert_eq!(found(&[without.as_bytes()]), None);
        }
    }
}
