//! The `requestState` of a call that waits until its editor calls again with the required input.
//!
//! It names the editor, the call and an expiry time, and is signed with the installation's key, so it
//! cannot be forged. It stays valid across a restart of the gateway: an editor that calls again
//! afterwards is told that the outcome of the call is unknown.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::protocol::envelope::Request;
use crate::security::session_id::SessionKey;

/// The claims of a request state. The field names are part of the signed token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestState {
    /// Unique per request state.
    pub nonce: String,
    /// The gateway instance that issued it.
    #[serde(rename = "edition")]
    pub instance_id: String,
    /// What waits for the editor.
    #[serde(rename = "waits")]
    pub pending: Pending,
    editor: String,
    call: String,
    /// When it was issued, in seconds of the Unix epoch.
    #[serde(rename = "given")]
    pub issued: u64,
    /// When it expires.
    until: u64,
}

/// What waits for the editor to call again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pending {
    /// The call to the upstream, which stays open.
    Call,
    /// Nothing: the upstream rejected the call until the user has opened a URL.
    #[serde(rename = "Nothing")]
    Rejected,
}

/// The validity of a request state that an editor sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestStateCheck {
    /// The upstream issued it, not the gateway.
    Foreign,
    /// It is forged, or issued for another editor or another call.
    Rejected,
    /// It was valid.
    Expired(RequestState),
    Valid(RequestState),
}

/// The prefix of a request state that the gateway issued.
const PREFIX: &str = "evermoor.";
const PURPOSE: &str = "requestState";

impl RequestState {
    /// A request state for one call of one editor.
    pub fn new(nonce: String, instance_id: &str, editor: &str, request: &Request) -> Self {
        Self {
            nonce,
            instance_id: instance_id.to_owned(),
            pending: Pending::Call,
            editor: editor.to_owned(),
            call: digest(request),
            issued: 0,
            until: 0,
        }
    }

    /// Marks it as one for a call that the upstream rejected.
    pub fn for_rejected_call(self) -> Self {
        Self { pending: Pending::Rejected, ..self }
    }

    /// Sets the time of issue and the lifetime.
    pub fn issued(self, now: u64, seconds: u64) -> Self {
        Self { issued: now, until: now + seconds, ..self }
    }

    /// The signed token.
    pub fn sign(&self, key: &SessionKey) -> String {
        let claims = serde_json::to_string(self).expect("strings are serializable");
        format!("{PREFIX}{}", key.sign_text(PURPOSE, &claims))
    }

    /// Checks the token that an editor sends with a call.
    pub fn verify(
        text: &str,
        key: &SessionKey,
        editor: &str,
        request: &Request,
        now: u64,
    ) -> RequestStateCheck {
        let Some(signed) = text.strip_prefix(PREFIX) else { return RequestStateCheck::Foreign };
        let claims = key.verify_text(PURPOSE, signed);
        let Some(state) = claims.and_then(|claims| serde_json::from_str::<Self>(&claims).ok())
        else {
            return RequestStateCheck::Rejected;
        };
        match state.editor == editor && state.call == digest(request) {
            false => RequestStateCheck::Rejected,
            true if now >= state.until => RequestStateCheck::Expired(state),
            true => RequestStateCheck::Valid(state),
        }
    }
}

/// A digest that identifies a call, without the members that the second call adds.
fn digest(request: &Request) -> String {
    let params = request.params.clone().unwrap_or_default();
    let arguments = params.without(&["_meta", "inputResponses", "requestState"]);
    let mut members = arguments.raw().entries().unwrap_or_default();
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
    use crate::protocol::json::Raw;
    use proptest::prelude::*;
    use serde_json::json;

    fn call(name: &str, arguments: &str) -> Request {
        let params = json!({ "name": name, "arguments": { "x": arguments } });
        Request::new(Id::number(1), "tools/call", Some(Raw::of(&params)))
    }

    fn token(key: &SessionKey) -> String {
        RequestState::new("n".into(), "instance", "claude", &call("a", "1"))
            .issued(100, 60)
            .sign(key)
    }

    fn open(text: &str, editor: &str, request: &Request, now: u64) -> RequestStateCheck {
        RequestState::verify(text, &SessionKey::new([1; 32]), editor, request, now)
    }

    #[test]
    fn it_is_valid_for_one_editor_one_call_and_a_limited_time() {
        let text = token(&SessionKey::new([1; 32]));
        let RequestStateCheck::Valid(state) = open(&text, "claude", &call("a", "1"), 159) else {
            panic!("good")
        };
        assert_eq!(
            (state.nonce.as_str(), state.instance_id.as_str(), state.issued),
            ("n", "instance", 100)
        );
        assert!(matches!(
            open(&text, "claude", &call("a", "1"), 160),
            RequestStateCheck::Expired(_)
        ));
        assert_eq!(open(&text, "cursor", &call("a", "1"), 159), RequestStateCheck::Rejected);
        assert_eq!(open(&text, "claude", &call("a", "2"), 159), RequestStateCheck::Rejected);
        assert_eq!(open(&text, "claude", &call("b", "1"), 159), RequestStateCheck::Rejected);
        assert_eq!(open("opaque", "claude", &call("a", "1"), 159), RequestStateCheck::Foreign);
        let other = token(&SessionKey::new([2; 32]));
        assert_eq!(open(&other, "claude", &call("a", "1"), 159), RequestStateCheck::Rejected);
    }

    #[test]
    fn members_added_by_the_second_call_do_not_change_the_call() {
        let text = token(&SessionKey::new([1; 32]));
        let mut back = call("a", "1");
        let params = back.params.take().unwrap();
        let params = params
            .with("requestState", &Raw::of(&text))
            .with("inputResponses", &Raw::of(&json!({})));
        back.params = Some(params.with("_meta", &Raw::of(&json!({ "x": 1 }))));
        assert!(matches!(open(&text, "claude", &back, 101), RequestStateCheck::Valid(_)));
    }

    #[test]
    fn a_request_state_of_0_1_0_is_valid() {
        let text = include_str!("../../../../../tests/fixtures/0.1.0/request-state");
        let key = SessionKey::new(*include_bytes!(
            "../../../../../tests/fixtures/0.1.0/home/data/session.key"
        ));
        let params = Raw::of(&json!({ "name": "ask" }));
        let request = Request::new(Id::number(1), "tools/call", Some(params));
        let open = |now| RequestState::verify(text, &key, "laptop", &request, now);
        let RequestStateCheck::Expired(state) = open(u64::MAX) else { panic!("it was valid") };
        assert_eq!(open(state.issued), RequestStateCheck::Valid(state.clone()));
        assert_eq!(state.pending, Pending::Call);
        assert_eq!(state.sign(&key), text);
    }

    proptest! {
        #[test]
        fn no_altered_token_is_valid(at: prop::sample::Index, to in 32_u8..127) {
            let text = token(&SessionKey::new([1; 32]));
            let mut bytes = text.clone().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = to;
            let altered = String::from_utf8(bytes).unwrap();
            // The last Base64 character has unused bits, so two spellings decode to the same bytes.
            prop_assume!(altered != text && at != text.len() - 1);
            prop_assert!(matches!(open(&altered, "claude", &call("a", "1"), 101), RequestStateCheck::Rejected | RequestStateCheck::Foreign));
        }
    }
}
