//! SSE event ids, with which an editor resumes a broken stream.
//!
//! An id contains the stream and the gateway instance that it belongs to. The id of an event on a
//! call's stream also contains the call: if the gateway was restarted meanwhile, the editor still
//! gets a response, which says that the outcome is unknown.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use crate::failure::outcome;
use crate::protocol::envelope::{Id, Request};
use crate::protocol::json::Raw;

/// The stream of an event and its position there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventId {
    /// On the notification stream of a session.
    Notification { instance_id: String, number: u64 },
    /// On the response stream of a call.
    Call { instance_id: String, stream: u64, event: u64, call: CallRef },
}

/// What is needed of a call to respond after its state is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRef {
    pub id: Id,
    /// What was called, for display.
    pub subject: String,
    pub is_tool: bool,
}

/// Longer names are truncated, because the id is sent in a header.
const MAX_SUBJECT_LENGTH: usize = 80;

impl CallRef {
    pub fn of(request: &Request) -> Self {
        let (subject, is_tool) = outcome::subject(&request.method, request.params.as_ref());
        let subject = subject.chars().take(MAX_SUBJECT_LENGTH).collect();
        Self { id: request.id.clone(), subject, is_tool }
    }
}

impl EventId {
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('.').collect();
        match parts.as_slice() {
            ["n", instance_id, number] => Some(Self::Notification {
                instance_id: (*instance_id).to_owned(),
                number: number.parse().ok()?,
            }),
            ["c", instance_id, stream, event, call] => {
                let call = Raw::parse(BASE64.decode(call).ok()?.into()).ok()?.elements()?;
                let [id, subject, is_tool] = call.as_slice() else { return None };
                let call = CallRef {
                    id: Id::from_raw(id.clone())?,
                    subject: subject.read().ok()?,
                    is_tool: is_tool.read().ok()?,
                };
                let (stream, event) = (stream.parse().ok()?, event.parse().ok()?);
                Some(Self::Call { instance_id: (*instance_id).to_owned(), stream, event, call })
            }
            _ => None,
        }
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Notification { instance_id, number } => write!(f, "n.{instance_id}.{number}"),
            Self::Call { instance_id, stream, event, call } => {
                let call = Raw::of(&(call.id.raw(), &call.subject, call.is_tool));
                write!(f, "c.{instance_id}.{stream}.{event}.{}", BASE64.encode(call.as_bytes()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_foreign_id_is_not_parsed() {
        for foreign in ["", "7", "n.a", "n.a.b", "c.a.1.2", "c.a.1.2.!!", "c.a.1.2.W10"] {
            assert_eq!(EventId::parse(foreign), None, "{foreign}");
        }
    }

    proptest! {
        #[test]
        fn an_id_is_parsed_back(stream: u64, event: u64, id: u64, subject: String, is_tool: bool) {
            let call = CallRef { id: Id::number(id), subject, is_tool };
            let one = EventId::Call { instance_id: "ab12".into(), stream, event, call };
            prop_assert_eq!(EventId::parse(&one.to_string()), Some(one.clone()));
            prop_assert!(one.to_string().bytes().all(|byte| byte.is_ascii_graphic()));
        }
    }
}
