//! The id of a message that is too large to be kept.
//!
//! Whoever sent it waits for an answer, and an answer needs the id. So the message is looked at as
//! it passes by, and nothing of it is kept but that.

use bytes::Bytes;

use crate::protocol::envelope::Id;
use crate::protocol::json::Raw;

/// Looks at a JSON object, piece by piece, and finds its member `id`.
#[derive(Default)]
pub struct IdFinder {
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// The text or number at the top of the object that is being read.
    word: Vec<u8>,
    /// The last thing at the top was the name of the member that we look for.
    is_next: bool,
    /// What follows a colon is a value.
    after_colon: bool,
    found: Option<Vec<u8>>,
}

/// No id is longer; what is would be of no use to anybody.
const LONGEST: usize = 1024;

impl IdFinder {
    /// Looks at the next piece.
    pub fn look_at(&mut self, piece: &[u8]) {
        for byte in piece {
            self.step(*byte);
        }
    }

    /// The id, if the message had one.
    pub fn id(mut self) -> Option<Id> {
        self.end_of_value();
        Id::from_raw(Raw::parse(Bytes::from(self.found?)).ok()?)
    }

    fn step(&mut self, byte: u8) {
        if self.in_text {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_text = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.word.clear();
            }
            b'}' | b']' => {
                self.end_of_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.is_next = self.word == b"\"id\"";
                self.after_colon = true;
                self.word.clear();
            }
            b',' => self.end_of_value(),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.word.len() < LONGEST {
            self.word.push(byte);
        }
    }

    fn end_of_value(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.is_next && self.after_colon && !self.word.is_empty() {
            self.found = Some(std::mem::take(&mut self.word));
        }
        (self.is_next, self.after_colon) = (false, false);
        self.word.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(pieces: &[&[u8]]) -> Option<String> {
        let mut finder = IdFinder::default();
        pieces.iter().for_each(|piece| finder.look_at(piece));
        finder.id().map(|id| id.raw().as_str().to_owned())
    }

    #[test]
    fn only_the_messages_own_id_is_found_wherever_it_stands() {
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
        fn the_id_is_the_one_that_a_whole_reading_finds(params in json(), id in any::<u32>(), cut in 0_usize..200) {
            let message = serde_json::json!({ "a": params, "id": id, "z": params }).to_string();
            let cut = cut.min(message.len());
            let (one, other) = message.as_bytes().split_at(cut);
            prop_assert_eq!(found(&[one, other]), Some(id.to_string()));
            let told = serde_json::json!({ "a": params, "z": [params] }).to_string();
            prop_assert_eq!(found(&[told.as_bytes()]), None);
        }
    }
}
