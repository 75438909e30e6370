//! Raw JSON: values that keep their original bytes.
//!
//! The gateway parses as little as it can and changes only what it must. Key order, unknown
//! members, big numbers and escapes survive, because nothing is rebuilt from a model. A [`Raw`] is
//! a slice of the buffer that the message arrived in, so passing it on copies nothing. [`members`]
//! is the one reader of the members of an object.

pub(crate) mod members;

use std::borrow::Cow;
use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};
use serde::de::{Deserialize, Deserializer as _, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use members::JsonMembers;

/// One JSON value, exactly as it was received.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Raw(Bytes);

/// More nesting than real messages have, and little enough for the stack of any parser.
pub const MAX_DEPTH: usize = 128;

impl Raw {
    /// Checks that `buffer` is one JSON value and keeps it.
    pub fn parse(buffer: Bytes) -> Result<Self, serde_json::Error> {
        let raw: &RawValue = serde_json::from_slice(&buffer)?;
        let slice = buffer.slice_ref(raw.get().as_bytes());
        Ok(Self(slice))
    }

    /// Serializes a value of the gateway.
    pub fn of<T: serde::Serialize + ?Sized>(value: &T) -> Self {
        Self(serde_json::to_vec(value).expect("the gateway's own types are serializable").into())
    }

    /// An object with one member, an array of these elements. They are not parsed again.
    pub fn object_with_array(member: &str, elements: &[Self]) -> Self {
        let member = Self::of(member);
        let length: usize = elements.iter().map(|element| element.0.len() + 1).sum();
        let mut object = BytesMut::with_capacity(member.0.len() + length + 5);
        object.put_u8(b'{');
        object.put_slice(&member.0);
        object.put_slice(b":[");
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                object.put_u8(b',');
            }
            object.put_slice(&element.0);
        }
        object.put_slice(b"]}");
        Self(object.freeze())
    }

    /// The slice of `buffer` that `raw` was parsed from.
    pub(crate) fn view(buffer: &Bytes, raw: &RawValue) -> Self {
        Self(buffer.slice_ref(raw.get().as_bytes()))
    }

    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// Whether it is a slice of the buffer of `other`.
    pub fn is_part_of(&self, other: &Self) -> bool {
        let (own, others) = (self.0.as_ptr_range(), other.0.as_ptr_range());
        others.start <= own.start && own.end <= others.end
    }

    /// The same value in the buffer that `keep` makes of its bytes, which must not change them.
    pub fn kept_by(self, keep: impl FnOnce(Bytes) -> Bytes) -> Self {
        let kept = Self(keep(self.0.clone()));
        debug_assert_eq!(kept, self, "the bytes changed");
        kept
    }

    /// The same value in a buffer of its own, so that it does not keep the one that it was part of.
    pub fn copied(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("checked when it was parsed")
    }

    /// Deserializes it, for the few messages that the gateway must understand.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.0)
    }

    /// The member `key`, if this is an object that has it.
    pub fn member(&self, key: &str) -> Option<Self> {
        self.find(key).map(|raw| Self::view(&self.0, raw))
    }

    /// The member `key`, if it is a string.
    pub fn text_member(&self, key: &str) -> Option<String> {
        self.find(key).and_then(|raw| serde_json::from_str(raw.get()).ok())
    }

    /// The elements, if this is an array.
    pub fn elements(&self) -> Option<Vec<Self>> {
        let elements: Vec<&RawValue> = serde_json::from_slice(&self.0).ok()?;
        Some(elements.into_iter().map(|raw| Self::view(&self.0, raw)).collect())
    }

    /// The first elements, at most `most`, if this is an array. The others are checked but take no memory.
    pub fn first_elements(&self, most: usize) -> Option<Vec<Self>> {
        struct First<'a> {
            whole: &'a Raw,
            most: usize,
        }
        impl<'de> Visitor<'de> for First<'de> {
            type Value = Vec<Raw>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Vec<Raw>, A::Error> {
                let mut first = Vec::new();
                while first.len() < self.most {
                    let Some(element) = all.next_element::<&RawValue>()? else { return Ok(first) };
                    first.push(Raw::view(&self.whole.0, element));
                }
                while all.next_element::<IgnoredAny>()?.is_some() {}
                Ok(first)
            }
        }
        let mut json = serde_json::Deserializer::from_slice(&self.0);
        json.deserialize_seq(First { whole: self, most }).ok()
    }

    /// The members in order, if this is an object.
    pub fn entries(&self) -> Option<Vec<(String, Self)>> {
        let JsonMembers(members) = self.members()?;
        let entry =
            |(key, raw): (Cow<'_, str>, &RawValue)| (key.into_owned(), Self::view(&self.0, raw));
        Some(members.into_iter().map(entry).collect())
    }

    /// The object with `key` set to `value`. An existing value is replaced in place, a new member
    /// is appended, and every other byte stays the same. An object that cannot be read stays as it is.
    pub fn with(&self, key: &str, value: &Self) -> Self {
        let Some(members) = self.members() else { return self.clone() };
        match members.get(key) {
            Some(old) => self.spliced(self.range_of(old), &[&value.0]),
            None => {
                let end = self.0.len() - 1;
                let comma: &[u8] = if members.0.is_empty() { b"" } else { b"," };
                self.spliced(end..end, &[comma, Self::of(key).as_bytes(), b":", &value.0])
            }
        }
    }

    /// Where a value that was read from this one is in it.
    pub(crate) fn range_of(&self, value: &RawValue) -> Range<usize> {
        let start = value.get().as_ptr() as usize - self.0.as_ptr() as usize;
        start..start + value.get().len()
    }

    /// The value at `range`, which [`Self::range_of`] returned.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        Self(self.0.slice(range))
    }

    /// The text with `range` replaced by `parts`.
    pub(crate) fn spliced(&self, range: Range<usize>, parts: &[&[u8]]) -> Self {
        let added: usize = parts.iter().map(|part| part.len()).sum();
        let mut edited = BytesMut::with_capacity(self.0.len() + added);
        edited.put_slice(&self.0[..range.start]);
        parts.iter().for_each(|part| edited.put_slice(part));
        edited.put_slice(&self.0[range.end..]);
        Self(edited.freeze())
    }

    /// The object without the members `keys`. It is not copied if it has none of them.
    pub fn without(&self, keys: &[&str]) -> Self {
        let Some(JsonMembers(members)) = self.members() else { return self.clone() };
        if !members.iter().any(|(name, _)| keys.contains(&&**name)) {
            return self.clone();
        }
        let mut edited = BytesMut::with_capacity(self.0.len());
        edited.put_u8(b'{');
        for (name, value) in members.iter().filter(|(name, _)| !keys.contains(&&**name)) {
            if edited.len() > 1 {
                edited.put_u8(b',');
            }
            edited.put_slice(Self::of(name).as_bytes());
            edited.put_u8(b':');
            edited.put_slice(value.get().as_bytes());
        }
        edited.put_u8(b'}');
        Self(edited.freeze())
    }

    fn find(&self, key: &str) -> Option<&RawValue> {
        self.members()?.get(key)
    }

    /// The members, if this is an object that can be read.
    pub(crate) fn members(&self) -> Option<JsonMembers<'_>> {
        match self.0.first() {
            Some(b'{') => JsonMembers::read(self.as_str()).ok(),
            Some(_) | None => None,
        }
    }
}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for Raw {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_slice(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Whether `json` is nested more deeply than [`MAX_DEPTH`].
pub fn too_deep(json: &[u8]) -> bool {
    // Most texts have too few brackets for that, and counting them is much faster than following them.
    let brackets = |part: &[u8]| part.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
    if json.chunks(4096).map(brackets).sum::<usize>() <= MAX_DEPTH {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true, b'"') => in_string = false,
            (true, _) => {}
            (false, b'"') => in_string = true,
            (false, b'{' | b'[') => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            (false, b'}' | b']') => depth = depth.saturating_sub(1),
            (false, _) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    #[test]
    fn the_first_elements_of_an_array_are_slices_of_it() {
        let raw = Raw::parse(Bytes::from_static(b"[1,\"x\",{}]")).unwrap();
        let texts = |most| {
            let first = raw.first_elements(most).unwrap();
            assert!(first.iter().all(|element| element.is_part_of(&raw)));
            first.iter().map(|element| element.as_str().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(texts(0), [] as [&str; 0]);
        assert_eq!(texts(2), ["1", "\"x\""]);
        assert_eq!(texts(9), ["1", "\"x\"", "{}"]);
        assert_eq!(Raw::of("[]").first_elements(1), None);
    }

    #[test]
    fn replacing_a_member_keeps_every_other_byte() {
        let tool = raw(r#"{ "zeta":1.0e3,  "name" : "a\u0062", "x":[ 1 , 2] }"#);
        let renamed = tool.with("name", &raw(r#""up__ab""#));
        assert_eq!(renamed.as_str(), r#"{ "zeta":1.0e3,  "name" : "up__ab", "x":[ 1 , 2] }"#);
    }

    #[test]
    fn a_new_member_is_appended() {
        assert_eq!(raw("{}").with("a", &raw("1")).as_str(), r#"{"a":1}"#);
        assert_eq!(raw(r#"{"b":{}}"#).with("a", &raw("1")).as_str(), r#"{"b":{},"a":1}"#);
    }

    #[test]
    fn removing_a_member_keeps_the_values_of_the_others() {
        let object = raw(r#"{ "a":1, "b" : [ 2 ], "c":"\u0063" }"#);
        assert_eq!(object.without(&["a"]).as_str(), r#"{"b":[ 2 ],"c":"\u0063"}"#);
        assert_eq!(object.without(&["a", "b", "c"]).as_str(), "{}");
        assert_eq!(object.without(&["x"]), object);
    }

    #[test]
    fn a_nested_member_of_the_same_name_is_not_touched() {
        let edited = raw(r#"{"in":{"name":1},"name":2}"#).with("name", &raw("3"));
        assert_eq!(edited.as_str(), r#"{"in":{"name":1},"name":3}"#);
    }

    #[test]
    fn deep_nesting_is_detected_and_brackets_in_strings_do_not_count() {
        assert!(too_deep("[".repeat(10_000).as_bytes()));
        assert!(!too_deep(format!("[\"{}\\\"[\"]", "[".repeat(10_000)).as_bytes()));
    }

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(serde_json::Value::from),
            any::<bool>().prop_map(serde_json::Value::from),
            any::<String>().prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(3, 24, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| members.into_iter().collect::<serde_json::Value>()),
            ]
        })
    }

    proptest! {
        #[test]
        fn setting_a_member_changes_that_member_only(
            members in prop::collection::hash_map(any::<String>(), value(), 0..6),
            key: String,
            new in value(),
        ) {
            let object = Raw::of(&members);
            let edited: serde_json::Value = object.with(&key, &Raw::of(&new)).read().unwrap();
            let mut wanted: serde_json::Value = object.read().unwrap();
            wanted[&key] = new;
            prop_assert_eq!(edited, wanted);
        }
    }
}
