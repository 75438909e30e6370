//! The client capabilities that let an upstream send requests to an editor.
//!
//! A tool may need its client: to sample the model, to ask the user, to list the open folders. One
//! connection to an upstream serves many editors, so the gateway declares all of these capabilities
//! to the upstream and rejects requests that the calling editor does not support.

use crate::protocol::envelope::Request;
use crate::protocol::json::Raw;

/// A set of capabilities, small enough to fit into a session id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities(u8);

const SAMPLING: u8 = 1;
const SAMPLING_TOOLS: u8 = 2;
const FORMS: u8 = 4;
const LINKS: u8 = 8;
const ROOTS: u8 = 16;

pub const CREATE_MESSAGE: &str = "sampling/createMessage";
pub const ELICIT: &str = "elicitation/create";
pub const LIST_ROOTS: &str = "roots/list";

impl ClientCapabilities {
    pub const ALL: Self = Self(SAMPLING | SAMPLING_TOOLS | FORMS | LINKS | ROOTS);

    /// Reads the `capabilities` of a client.
    pub fn read(capabilities: &Raw) -> Self {
        let offers = |raw: &Raw, name: &str| raw.member(name);
        let mut found = 0;
        if let Some(sampling) = offers(capabilities, "sampling") {
            found |= SAMPLING;
            found |= if offers(&sampling, "tools").is_some() { SAMPLING_TOOLS } else { 0 };
        }
        if let Some(elicitation) = offers(capabilities, "elicitation") {
            let links = offers(&elicitation, "url").is_some();
            // In older versions an empty object means forms.
            let forms = offers(&elicitation, "form").is_some() || !links;
            found |= if forms { FORMS } else { 0 } | if links { LINKS } else { 0 };
        }
        found |= if offers(capabilities, "roots").is_some() { ROOTS } else { 0 };
        Self(found)
    }

    /// The `capabilities` object for this set.
    pub fn capabilities(self) -> Raw {
        let mut declared = serde_json::Map::new();
        if self.has(SAMPLING) {
            let tools = self.has(SAMPLING_TOOLS);
            let sampling = if tools { serde_json::json!({ "tools": {} }) } else { empty() };
            declared.insert("sampling".into(), sampling);
        }
        if self.has(FORMS) || self.has(LINKS) {
            let mut kinds = serde_json::Map::new();
            if self.has(FORMS) {
                kinds.insert("form".into(), empty());
            }
            if self.has(LINKS) {
                kinds.insert("url".into(), empty());
            }
            declared.insert("elicitation".into(), kinds.into());
        }
        if self.has(ROOTS) {
            declared.insert("roots".into(), serde_json::json!({ "listChanged": true }));
        }
        Raw::of(&declared)
    }

    /// Whether a client with these capabilities can answer the request. Unknown requests are
    /// passed on.
    pub fn can_answer(self, request: &Request) -> bool {
        let params = request.params.as_ref();
        match request.method.as_str() {
            CREATE_MESSAGE => {
                let tools = params.and_then(|params| params.member("tools")).is_some();
                self.has(SAMPLING) && (!tools || self.has(SAMPLING_TOOLS))
            }
            ELICIT => {
                let mode = params.and_then(|params| params.text_member("mode"));
                self.has(if mode.as_deref() == Some("url") { LINKS } else { FORMS })
            }
            LIST_ROOTS => self.has(ROOTS),
            _ => true,
        }
    }

    /// Whether a client with these capabilities opens pages for its user.
    pub fn opens_pages(self) -> bool {
        self.has(LINKS)
    }

    /// The capabilities that a client needs to answer the request.
    pub fn needed_for(request: &Request) -> Self {
        let params = request.params.as_ref();
        Self(match request.method.as_str() {
            CREATE_MESSAGE => match params.and_then(|params| params.member("tools")) {
                Some(_) => SAMPLING | SAMPLING_TOOLS,
                None => SAMPLING,
            },
            ELICIT => match params.and_then(|params| params.text_member("mode")).as_deref() {
                Some("url") => LINKS,
                Some(_) | None => FORMS,
            },
            LIST_ROOTS => ROOTS,
            _ => 0,
        })
    }

    pub fn bits(self) -> u8 {
        self.0
    }

    pub fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

fn empty() -> serde_json::Value {
    serde_json::json!({})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::envelope::Id;
    use proptest::prelude::*;

    fn client_capabilities(capabilities: serde_json::Value) -> ClientCapabilities {
        ClientCapabilities::read(&Raw::of(&capabilities))
    }

    fn request(method: &str, params: serde_json::Value) -> Request {
        Request::new(Id::number(1), method, Some(Raw::of(&params)))
    }

    #[test]
    fn elicitation_without_a_mode_means_forms() {
        let form = request(ELICIT, serde_json::json!({ "message": "?" }));
        let link = request(ELICIT, serde_json::json!({ "mode": "url", "url": "https://x" }));
        let old = client_capabilities(serde_json::json!({ "elicitation": {} }));
        assert!(old.can_answer(&form) && !old.can_answer(&link));
        let new = client_capabilities(serde_json::json!({ "elicitation": { "url": {} } }));
        assert!(!new.can_answer(&form) && new.can_answer(&link));
    }

    #[test]
    fn a_client_without_capabilities_answers_only_unknown_requests() {
        let none = client_capabilities(serde_json::json!({}));
        for method in [CREATE_MESSAGE, ELICIT, LIST_ROOTS] {
            assert!(!none.can_answer(&request(method, serde_json::json!({}))), "{method}");
        }
        assert!(none.can_answer(&request("vendor/request", serde_json::json!({}))));
    }

    proptest! {
        #[test]
        fn capabilities_are_read_back(bits: u8) {
            let one = ClientCapabilities::read(&ClientCapabilities::from_bits(bits).capabilities());
            prop_assert_eq!(ClientCapabilities::read(&one.capabilities()), one);
            prop_assert_eq!(ClientCapabilities::from_bits(one.bits()), one);
        }
    }
}
