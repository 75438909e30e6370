//! Session ids that survive a restart of the gateway.
//!
//! Many editors never recover from a lost session, so sessions must not be lost. An id contains what
//! the gateway must know about the session, signed with a key from the data folder. After a restart
//! the ids of this installation are still valid, and there is no table of sessions to lose. An id is
//! not a credential: the editor's token is still required.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::protocol::mcp::{Implementation, SessionVersion};
use crate::protocol::translate::client_capabilities::ClientCapabilities;

/// The key that signs session ids.
#[derive(Clone)]
pub struct SessionKey([u8; 32]);

/// The content of a session id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionClaims {
    /// The negotiated MCP version.
    pub revision: SessionVersion,
    /// The editor's name in the token file: an id is invalid with another editor's token.
    pub editor: String,
    /// The client's name for itself.
    pub client: Implementation,
    /// The requests of servers that the client can handle.
    pub client_capabilities: ClientCapabilities,
    /// Distinguishes sessions of the same client.
    pub nonce: [u8; 16],
}

#[derive(Serialize, Deserialize)]
struct Claims<'a> {
    r: &'a str,
    e: &'a str,
    c: &'a str,
    v: &'a str,
    n: &'a str,
    #[serde(default)]
    a: u8,
}

/// The maximum length of a client's name or version in an id.
const LONGEST_CLIENT: usize = 64;

impl SessionKey {
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// The id for a session.
    pub fn sign(&self, session: &SessionClaims) -> String {
        let claims = Claims {
            r: session.revision.as_str(),
            e: &session.editor,
            c: shorten(&session.client.name),
            v: shorten(&session.client.version),
            n: &BASE64.encode(session.nonce),
            a: session.client_capabilities.bits(),
        };
        let claims = BASE64.encode(serde_json::to_vec(&claims).expect("strings serialise"));
        let signature = BASE64.encode(self.signature(&claims));
        format!("{claims}.{signature}")
    }

    /// The content of `id`, if this key signed it.
    pub fn verify(&self, id: &str) -> Option<SessionClaims> {
        let (claims, signature) = id.split_once('.')?;
        let signature = BASE64.decode(signature).ok()?;
        if !bool::from(self.signature(claims).ct_eq(signature.as_slice())) {
            return None;
        }
        let claims = BASE64.decode(claims).ok()?;
        let claims: Claims<'_> = serde_json::from_slice(&claims).ok()?;
        Some(SessionClaims {
            revision: SessionVersion::parse(claims.r)?,
            editor: claims.e.to_owned(),
            client: Implementation { name: claims.c.to_owned(), version: claims.v.to_owned() },
            nonce: BASE64.decode(claims.n).ok()?.try_into().ok()?,
            client_capabilities: ClientCapabilities::from_bits(claims.a),
        })
    }

    /// Signs a text for one purpose. The text is not encrypted.
    pub fn sign_text(&self, purpose: &str, text: &str) -> String {
        let text = BASE64.encode(text);
        let signature = BASE64.encode(self.signature(&format!("{purpose}\0{text}")));
        format!("{text}.{signature}")
    }

    /// The text, if this key signed it for this purpose.
    pub fn verify_text(&self, purpose: &str, signed: &str) -> Option<String> {
        let (text, signature) = signed.split_once('.')?;
        let signature = BASE64.decode(signature).ok()?;
        let own = self.signature(&format!("{purpose}\0{text}"));
        let text = BASE64.decode(text).ok()?;
        if bool::from(own.ct_eq(signature.as_slice())) {
            String::from_utf8(text).ok()
        } else {
            None
        }
    }

    fn signature(&self, claims: &str) -> [u8; 32] {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC accepts keys of any length");
        mac.update(claims.as_bytes());
        mac.finalize().into_bytes().into()
    }
}

impl std::fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionKey(secret)")
    }
}

/// Shortens a client's name so that the id fits in a header. A name with characters that JSON escapes
/// is dropped, because the claims are parsed without copying.
fn shorten(text: &str) -> &str {
    let plain = text.chars().all(|c| c != '"' && c != '\\' && !c.is_control());
    let end = text.char_indices().nth(LONGEST_CLIENT).map_or(text.len(), |(end, _)| end);
    if plain { &text[..end] } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn session(name: &str) -> SessionClaims {
        SessionClaims {
            revision: SessionVersion::V2025_06_18,
            editor: "local".into(),
            client: Implementation { name: name.into(), version: "1.2".into() },
            nonce: [7; 16],
            client_capabilities: ClientCapabilities::from_bits(3),
        }
    }

    #[test]
    fn an_id_is_valid_after_a_restart() {
        let id = SessionKey::new([1; 32]).sign(&session("claude-code"));
        assert_eq!(SessionKey::new([1; 32]).verify(&id), Some(session("claude-code")));
    }

    #[test]
    fn an_id_of_0_1_0_is_unchanged() {
        let key = SessionKey::new(*include_bytes!(
            "../../../../tests/fixtures/0.1.0/home/data/session.key"
        ));
        let id = include_str!("../../../../tests/fixtures/0.1.0/session-id");
        let session = key.verify(id).unwrap();
        assert_eq!((session.editor.as_str(), session.client.name.as_str()), ("laptop", "wire"));
        assert_eq!(key.sign(&session), id);
    }

    #[test]
    fn an_id_of_another_installation_is_invalid() {
        let id = SessionKey::new([1; 32]).sign(&session("claude-code"));
        assert_eq!(SessionKey::new([2; 32]).verify(&id), None);
    }

    #[test]
    fn a_text_signed_for_one_purpose_is_invalid_for_another() {
        let key = SessionKey::new([1; 32]);
        let signed = key.sign_text("one", "words");
        assert_eq!(key.verify_text("one", &signed).as_deref(), Some("words"));
        assert_eq!(key.verify_text("two", &signed), None);
        assert_eq!(key.verify(&signed), None);
    }

    #[test]
    fn the_key_is_never_printed() {
        assert_eq!(format!("{:?}", SessionKey::new([1; 32])), "SessionKey(secret)");
    }

    proptest! {
        #[test]
        fn no_changed_id_is_accepted(at: prop::sample::Index, to in 32_u8..127) {
            let key = SessionKey::new([1; 32]);
            let id = key.sign(&session("x"));
            let mut bytes = id.clone().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = to;
            let changed = String::from_utf8(bytes).unwrap();
            // The last Base64 character has unused bits, so two spellings decode to the same bytes.
            prop_assume!(changed != id && at != id.len() - 1);
            prop_assert_eq!(key.verify(&changed), None);
        }

        #[test]
        fn any_client_name_gives_a_valid_header(name: String) {
            let key = SessionKey::new([1; 32]);
            let id = key.sign(&session(&name));
            prop_assert!(id.bytes().all(|byte| byte.is_ascii_graphic()) && id.len() < 1024);
            prop_assert!(key.verify(&id).is_some());
        }
    }
}
