//! The word under which a call waits for an editor that comes back with what was asked.
//!
//! The word says for whom and for which call it is good, and until when. It is signed with the key of
//! the installation, so nobody can make one or alter one; and whoever comes back after a restart of
//! the gateway is told the truth about the call, because its word is still known to be ours.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::protocol::envelope::Request;
use crate::protocol::json::Raw;
use crate::security::session_id::SessionKey;

/// What a word says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    /// Tells it from every other one.
    pub nonce: String,
    /// The life of the gateway that gave it.
    pub edition: String,
    /// What waits for it.
    pub waits: Waits,
    editor: String,
    call: String,
    /// When it was given, and until when it is good, in seconds since 1970.
    pub given: u64,
    until: u64,
}

/// What waits for a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Waits {
    /// The upstream's call, which stays open.
    Call,
    /// Nothing: the upstream turned the call away until a person has done something.
    Nothing,
}

/// What a word that an editor brings is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Worth {
    /// It is somebody else's word.
    Foreign,
    /// It looks like ours and is not, or is not for this editor or this call.
    Nothing,
    /// It was good.
    Expired(Word),
    Good(Word),
}

/// What our words begin with.
const MARK: &str = "evermoor.";
const PURPOSE: &str = "requestState";

impl Word {
    /// A word for one call of one editor, given at `now` and good for `seconds`.
    pub fn new(nonce: String, edition: &str, editor: &str, request: &Request) -> Self {
        Self {
            nonce,
            edition: edition.to_owned(),
            waits: Waits::Call,
            editor: editor.to_owned(),
            call: digest(request),
            given: 0,
            until: 0,
        }
    }

    pub fn for_nothing(self) -> Self {
        Self { waits: Waits::Nothing, ..self }
    }

    pub fn given(self, now: u64, seconds: u64) -> Self {
        Self { given: now, until: now + seconds, ..self }
    }

    pub fn seal(&self, key: &SessionKey) -> String {
        let claims = serde_json::to_string(self).expect("strings serialise");
        format!("{MARK}{}", key.seal(PURPOSE, &claims))
    }

    /// What the text that an editor brings with a call is worth.
    pub fn open(text: &str, key: &SessionKey, editor: &str, request: &Request, now: u64) -> Worth {
        let Some(sealed) = text.strip_prefix(MARK) else { return Worth::Foreign };
        let claims = key.open(PURPOSE, sealed);
        let Some(word) = claims.and_then(|claims| serde_json::from_str::<Self>(&claims).ok())
        else {
            return Worth::Nothing;
        };
        match word.editor == editor && word.call == digest(request) {
            false => Worth::Nothing,
            true if now >= word.until => Worth::Expired(word),
            true => Worth::Good(word),
        }
    }
}

/// Tells calls apart, whatever is added to them on the way.
fn digest(request: &Request) -> String {
    let nothing = Raw::of(&serde_json::json!({}));
    let params = request.params.as_ref().unwrap_or(&nothing);
    let own = params.without(&["_meta", "inputResponses", "requestState"]);
    let mut members = own.entries().unwrap_or_default();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut hash = Sha256::new();
    hash.update(&request.method);
    for (key, value) in members {
        hash.update(BASE64.encode(key));
        hash.update([b'=']);
        hash.update(Sha256::digest(value.as_bytes()));
    }
    BASE64.encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::envelope::Id;
    use proptest::prelude::*;
    use serde_json::json;

    fn call(name: &str, arguments: &str) -> Request {
        let params = json!({ "name": name, "arguments": { "x": arguments } });
        Request::new(Id::number(1), "tools/call", Some(Raw::of(&params)))
    }

    fn sealed(key: &SessionKey) -> String {
        Word::new("n".into(), "life", "claude", &call("a", "1")).given(100, 60).seal(key)
    }

    fn open(text: &str, editor: &str, request: &Request, now: u64) -> Worth {
        Word::open(text, &SessionKey::new([1; 32]), editor, request, now)
    }

    #[test]
    fn a_word_is_good_for_its_editor_its_call_and_its_time() {
        let text = sealed(&SessionKey::new([1; 32]));
        let Worth::Good(word) = open(&text, "claude", &call("a", "1"), 159) else { panic!("good") };
        assert_eq!((word.nonce.as_str(), word.edition.as_str(), word.given), ("n", "life", 100));
        assert!(matches!(open(&text, "claude", &call("a", "1"), 160), Worth::Expired(_)));
        assert_eq!(open(&text, "cursor", &call("a", "1"), 159), Worth::Nothing);
        assert_eq!(open(&text, "claude", &call("a", "2"), 159), Worth::Nothing);
        assert_eq!(open(&text, "claude", &call("b", "1"), 159), Worth::Nothing);
        assert_eq!(open("opaque", "claude", &call("a", "1"), 159), Worth::Foreign);
        let other = sealed(&SessionKey::new([2; 32]));
        assert_eq!(open(&other, "claude", &call("a", "1"), 159), Worth::Nothing);
    }

    #[test]
    fn what_is_added_on_the_way_does_not_make_it_another_call() {
        let text = sealed(&SessionKey::new([1; 32]));
        let mut back = call("a", "1");
        let params = back.params.take().unwrap();
        let params = params
            .with("requestState", &Raw::of(&text))
            .with("inputResponses", &Raw::of(&json!({})));
        back.params = Some(params.with("_meta", &Raw::of(&json!({ "x": 1 }))));
        assert!(matches!(open(&text, "claude", &back, 101), Worth::Good(_)));
    }

    proptest! {
        #[test]
        fn no_altered_word_is_good(at: prop::sample::Index, to in 32_u8..127) {
            let text = sealed(&SessionKey::new([1; 32]));
            let mut bytes = text.clone().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = to;
            let altered = String::from_utf8(bytes).unwrap();
            // The last character of a Base64 text has unused bits, so two spellings decode alike.
            prop_assume!(altered != text && at != text.len() - 1);
            prop_assert!(matches!(open(&altered, "claude", &call("a", "1"), 101), Worth::Nothing | Worth::Foreign));
        }
    }
}
