//! The parameters of a request, read once.
//!
//! A request travels from the endpoint to the connection that sends it, and many steps ask for the
//! same few members. They are found on the first use, and the request carries their positions from
//! then on. All other members are passed on unread.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::Deserialize;

use crate::protocol::envelope::{INVALID_PARAMS, InvalidMessage, Message, Request};
use crate::protocol::json::Raw;
use crate::protocol::json::members::{JsonMembers, MAX_MEMBERS, is_lookalike};
use crate::protocol::mcp::{meta, method};

/// The parameters of a request as they were received, with the members that the gateway uses.
#[derive(Clone)]
pub struct Params {
    raw: Raw,
    found: OnceLock<Option<Arc<MemberRanges>>>,
}

/// Why the parameters of a request are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidParams {
    #[error("`params` is not an object, has a duplicate member, or has more than {max} members.", max = MAX_MEMBERS)]
    Unreadable,
    #[error("A member of `params` differs from the one that MCP defines only in case.")]
    Lookalike,
}

/// The members of `params` that the gateway uses.
const MEMBERS: [&str; 11] = [
    META,
    "name",
    "uri",
    "arguments",
    "taskId",
    "task",
    "cursor",
    "ref",
    "context",
    "inputResponses",
    "requestState",
];
const META: &str = "_meta";
/// The members of a completion's `ref` that the gateway uses.
const REF_MEMBERS: [&str; 2] = ["name", "uri"];
/// The members of `_meta` that the gateway uses.
const META_MEMBERS: [&str; 6] = [
    PROGRESS_TOKEN,
    meta::PROTOCOL_VERSION,
    meta::CLIENT,
    meta::CAPABILITIES,
    meta::LOG_LEVEL,
    meta::SUBSCRIPTION,
];
pub const PROGRESS_TOKEN: &str = "progressToken";

/// Where the members are. The index in the array is that in [`MEMBERS`] or [`META_MEMBERS`].
#[derive(Clone, Default)]
struct MemberRanges {
    members: [Option<Range<usize>>; MEMBERS.len()],
    meta: [Option<Range<usize>>; META_MEMBERS.len()],
    is_empty: bool,
    lookalike: bool,
}

impl Params {
    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    pub fn into_raw(self) -> Raw {
        self.raw
    }

    pub fn as_bytes(&self) -> &Bytes {
        self.raw.as_bytes()
    }

    pub fn as_str(&self) -> &str {
        self.raw.as_str()
    }

    /// Deserializes all of it.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        self.raw.read()
    }

    /// The member `key`.
    pub fn member(&self, key: &str) -> Option<Raw> {
        match position(&MEMBERS, key) {
            Some(known) => Some(self.slice(self.found()?.members[known].clone()?)),
            None => self.raw.member(key),
        }
    }

    /// The member `key`, if it is a string.
    pub fn text_member(&self, key: &str) -> Option<String> {
        self.member(key)?.read().ok()
    }

    /// Whether there is a member `key`.
    pub fn has(&self, key: &str) -> bool {
        match position(&MEMBERS, key) {
            Some(known) => self.found().is_some_and(|found| found.members[known].is_some()),
            None => self.raw.member(key).is_some(),
        }
    }

    /// The member `key` of `_meta`.
    pub fn meta(&self, key: &str) -> Option<Raw> {
        match position(&META_MEMBERS, key) {
            Some(known) => Some(self.slice(self.found()?.meta[known].clone()?)),
            None => self.member(META)?.member(key),
        }
    }

    /// The parameters with `key` set to `value`, with every other byte unchanged. Parameters that
    /// cannot be read stay as they are.
    pub fn with(&self, key: &str, value: &Raw) -> Self {
        let (Some(known), Some(found)) = (position(&MEMBERS, key), self.found()) else {
            return self.raw.with(key, value).into();
        };
        let mut found = (**found).clone();
        let length = value.as_bytes().len();
        let raw = match found.members[known].clone() {
            Some(old) => {
                let raw = self.raw.spliced(old.clone(), &[value.as_bytes()]);
                found.shift(&old, length);
                found.members[known] = Some(old.start..old.start + length);
                raw
            }
            None => {
                let end = self.as_bytes().len() - 1;
                let comma: &[u8] = if found.is_empty { b"" } else { b"," };
                let key = Raw::of(key);
                let parts = [comma, key.as_bytes(), b":", value.as_bytes()];
                let raw = self.raw.spliced(end..end, &parts);
                let end = raw.as_bytes().len() - 1;
                found.members[known] = Some(end - length..end);
                found.is_empty = false;
                raw
            }
        };
        if key == META {
            let start = found.members[known].as_ref().map_or(0, |range| range.start);
            found.meta = find_meta(value, start);
        }
        Self { raw, found: Some(Arc::new(found)).into() }
    }

    /// The parameters without the members `keys`. They are not copied if they have none of them.
    pub fn without(&self, keys: &[&str]) -> Self {
        match keys.iter().any(|key| self.has(key)) {
            true => self.raw.without(keys).into(),
            false => self.clone(),
        }
    }

    /// The parameters with `key` of `_meta` set to `value`.
    pub fn with_meta(&self, key: &str, value: &Raw) -> Self {
        let meta = self.member(META).unwrap_or_else(|| Raw::of(&serde_json::json!({})));
        self.with(META, &meta.with(key, value))
    }

    fn slice(&self, range: Range<usize>) -> Raw {
        self.raw.slice(range)
    }

    /// Where the members are; `None` if they cannot be read.
    fn found(&self) -> Option<&Arc<MemberRanges>> {
        self.found.get_or_init(|| MemberRanges::read(&self.raw).map(Arc::new)).as_ref()
    }
}

impl From<Raw> for Params {
    fn from(raw: Raw) -> Self {
        Self { raw, found: OnceLock::new() }
    }
}

impl Default for Params {
    fn default() -> Self {
        Raw::of(&serde_json::json!({})).into()
    }
}

impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Params {}

impl std::fmt::Debug for Params {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.raw.fmt(f)
    }
}

impl MemberRanges {
    fn read(raw: &Raw) -> Option<Self> {
        let JsonMembers(members) = raw.members()?;
        let mut found = Self { is_empty: members.is_empty(), ..Self::default() };
        for (key, value) in &members {
            match position(&MEMBERS, key) {
                Some(known) => {
                    let range = raw.range_of(value);
                    if known == 0 {
                        found.meta = find_meta(&raw.slice(range.clone()), range.start);
                    }
                    found.members[known] = Some(range);
                }
                None => found.lookalike |= is_lookalike(key, &MEMBERS),
            }
        }
        Some(found)
    }

    /// Moves what lies behind `old` when that is replaced by a value of another length.
    fn shift(&mut self, old: &Range<usize>, length: usize) {
        let ranges = self.members.iter_mut().chain(&mut self.meta).flatten();
        for range in ranges.filter(|range| range.start >= old.end) {
            *range = range.start + length - old.len()..range.end + length - old.len();
        }
    }
}

/// The members of `_meta`, which begins at `start`.
fn find_meta(meta: &Raw, start: usize) -> [Option<Range<usize>>; META_MEMBERS.len()] {
    let mut found = <[Option<Range<usize>>; META_MEMBERS.len()]>::default();
    for (key, value) in meta.members().map(|members| members.0).unwrap_or_default() {
        if let Some(known) = position(&META_MEMBERS, &key) {
            let range = meta.range_of(value);
            found[known] = Some(start + range.start..start + range.end);
        }
    }
    found
}

fn position(known: &[&str], key: &str) -> Option<usize> {
    known.iter().position(|known| *known == key)
}

impl Message {
    /// Parses one message of an editor, and refuses parameters that are ambiguous.
    pub fn from_editor(buffer: &Bytes) -> Result<Self, InvalidMessage> {
        let message = Self::parse(buffer)?;
        if let Self::Request(request) = &message
            && let Err(invalid) = request.check_params()
        {
            let (why, id) = (invalid.to_string().into(), Some(request.id.clone()));
            return Err(InvalidMessage { code: INVALID_PARAMS, why, id });
        }
        Ok(message)
    }
}

impl Request {
    /// Refuses parameters that a server could read differently from the gateway, which decides by
    /// them what the editor may call: duplicate members, and names that a lenient server could take
    /// for MCP's.
    pub fn check_params(&self) -> Result<(), InvalidParams> {
        let Some(params) = &self.params else { return Ok(()) };
        let Some(found) = params.found() else {
            // Other methods may have parameters by position.
            return match params.as_bytes().starts_with(b"[") {
                true if !is_read(&self.method) => Ok(()),
                true | false => Err(InvalidParams::Unreadable),
            };
        };
        if !is_read(&self.method) {
            return Ok(());
        }
        let subject = params.member("ref").filter(|_| self.method == method::COMPLETE);
        let subject = match subject.as_ref().map(Raw::members) {
            Some(Some(JsonMembers(members))) => members,
            Some(None) => return Err(InvalidParams::Unreadable),
            None => Vec::new(),
        };
        match found.lookalike || subject.iter().any(|(key, _)| is_lookalike(key, &REF_MEMBERS)) {
            true => Err(InvalidParams::Lookalike),
            false => Ok(()),
        }
    }
}

/// Whether the gateway decides by the parameters of this method what an editor may call.
fn is_read(called: &str) -> bool {
    matches!(
        called,
        method::TOOLS_CALL
            | method::PROMPTS_GET
            | method::RESOURCES_READ
            | method::SUBSCRIBE
            | method::UNSUBSCRIBE
            | method::COMPLETE
            | method::TASKS_GET
            | method::TASKS_RESULT
            | method::TASKS_UPDATE
            | method::TASKS_CANCEL
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::envelope::Id;
    use proptest::prelude::*;
    use serde_json::json;

    fn params(text: &str) -> Params {
        Raw::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap().into()
    }

    fn check(called: &str, text: &str) -> Result<(), InvalidParams> {
        Request::new(Id::number(1), called, Some(params(text).into_raw())).check_params()
    }

    #[test]
    fn members_are_found_in_params_and_in_meta() {
        let params =
            params(r#"{ "arguments":{"name":1}, "name" : "x", "_meta":{"progressToken":7} }"#);
        assert_eq!(params.text_member("name").as_deref(), Some("x"));
        assert_eq!(params.meta(PROGRESS_TOKEN).unwrap().as_str(), "7");
        assert_eq!(params.meta(meta::CLIENT), None);
        assert!(params.has("arguments") && !params.has("uri"));
    }

    #[test]
    fn a_lookalike_of_a_member_that_names_something_is_refused() {
        for text in [
            r#"{"name":"a","Name":"b"}"#,
            r#"{"NAME":"b"}"#,
            r#"{"name":"a","_Meta":{}}"#,
            r#"{"name":"a","argument\u017f":{}}"#,
        ] {
            assert_eq!(check("tools/call", text), Err(InvalidParams::Lookalike), "{text}");
            assert_eq!(check("vendor/x", text), Ok(()), "{text}");
        }
        assert_eq!(check("tools/call", r#"{"name":"a","arguments":{"Name":"b"}}"#), Ok(()));
        let subject = r#"{"ref":{"name":"a","Name":"b"}}"#;
        assert_eq!(check("completion/complete", subject), Err(InvalidParams::Lookalike));
    }

    #[test]
    fn params_that_two_parsers_could_read_differently_are_refused() {
        let many: Vec<String> = (0..70_000).map(|n| format!(r#""m{n}":0"#)).collect();
        for text in [r#"{"x":1,"x":2}"#, &format!("{{{}}}", many.join(","))] {
            for called in ["tools/call", "vendor/x"] {
                assert_eq!(check(called, text), Err(InvalidParams::Unreadable));
            }
        }
        assert_eq!(check("vendor/x", "[1]"), Ok(()));
        assert_eq!(check("tools/call", "[1]"), Err(InvalidParams::Unreadable));
    }

    proptest! {
        #[test]
        fn after_any_edits_the_members_are_where_a_new_reader_finds_them(
            keys in prop::collection::vec(0..MEMBERS.len() + 1, 0..6),
            edits in prop::collection::vec((0..MEMBERS.len(), "[a-z]{0,12}", any::<bool>()), 1..6),
        ) {
            let name = |key: usize| MEMBERS.get(key).copied().unwrap_or("other");
            let members: serde_json::Map<_, _> =
                keys.iter().map(|key| (name(*key).to_owned(), json!({ "progressToken": key }))).collect();
            let mut edited = Params::from(Raw::of(&members));
            for (key, text, in_meta) in edits {
                edited = match in_meta {
                    true => edited.with_meta(PROGRESS_TOKEN, &Raw::of(&text)),
                    false => edited.with(MEMBERS[key], &Raw::of(&json!({ "progressToken": text }))),
                };
            }
            let again = Params::from(edited.raw.clone());
            for key in MEMBERS {
                prop_assert_eq!(edited.member(key), again.member(key));
            }
            prop_assert_eq!(edited.meta(PROGRESS_TOKEN), again.meta(PROGRESS_TOKEN));
            prop_assert!(again.found().is_some());
        }
    }
}
