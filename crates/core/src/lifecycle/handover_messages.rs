//! The messages with which a gateway hands over to its successor.
//!
//! # Theory of operation
//! ```text
//! successor                   predecessor
//!   connects
//!                  ◀──────    Welcome, as soon as no other successor is connected
//!   connects to its upstreams
//!   Ask            ──────▶      stops accepting
//!                  ◀──────    Granted, with the listening socket, the lock and the private socket for shims
//!   Ready          ──────▶      gives up the write lease: it writes no more files
//!                  ◀──────    Go
//!   reads the files, writes the runtime file, accepts
//!   Serving        ──────▶      closes its copies and finishes its calls
//!   Tell …         ──────▶
//!                  ◀──────    Connection …, Subscriptions …
//!   Received …     ──────▶      closes its copy of each connection
//! ```
//!
//! The tray keeps the address open while no gateway runs. It sends `Copy` in place of `Ask`, receives a copy
//! of the listening socket, and passes it to the next gateway when that one starts.
//!
//! Until it receives `Serving`, the predecessor can continue as before, and does so if the connection
//! breaks or times out. The two may have different versions: unknown messages are ignored, and `Ask`
//! has the version of this protocol. Tags and fields are a wire format and keep their spelling.

use serde::{Deserialize, Serialize};

/// The version of this protocol. A gateway refuses a request with another one.
pub const HANDOVER_VERSION: u32 = 1;

/// A message of the successor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "camelCase")]
pub enum SuccessorMessage {
    /// Asks to take over.
    Ask {
        conversation: u32,
        version: String,
        pid: u32,
        /// It sends [`Received`](Self::Received) for each connection.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        acknowledges: bool,
        /// It takes the private socket for shims too. A successor of 0.1.0 opens one of its own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not", rename = "shimSocket")]
        shim_socket: bool,
    },
    /// Asks for a copy of the listening socket, without taking over.
    Copy,
    /// It has received everything it needs.
    Ready,
    /// It accepts connections.
    Serving,
    /// It has received the next connection. Until then the predecessor keeps its copy: macOS can close a
    /// socket that is in transit when the sender closes it.
    Received,
    /// Forwards an editor's message about a call that the predecessor still handles.
    #[serde(rename = "tell")]
    Forward { session: String, message: String },
    #[serde(other)]
    Unknown,
}

/// A message of the predecessor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "camelCase")]
pub enum PredecessorMessage {
    /// It is ready for a handover to this successor.
    Welcome,
    /// It refuses the handover.
    Refused { why: String },
    /// Carries the listening socket and the lock, and the private socket for shims if there is one and the
    /// successor takes it.
    #[serde(rename = "yours")]
    Granted,
    /// Carries a copy of the listening socket for a program that keeps it open.
    Copy,
    /// The files belong to the successor from now on.
    Go {
        /// The unused one-time codes of dashboard links, with the age of each in milliseconds.
        #[serde(default)]
        links: Vec<(String, u64)>,
    },
    /// Carries an idle connection.
    Connection {
        /// It has authenticated with a valid token.
        known: bool,
        /// The bytes of the next request that were already read, in base64.
        read: String,
    },
    /// A request that was still in progress changed the subscriptions of a session.
    #[serde(rename = "wishes")]
    Subscriptions { session: String, resources: Vec<(String, String)>, level: Option<String> },
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_messages_and_fields_are_ignored() {
        let unknown = br#"{"word":"sing","song":[1,2]}"#;
        assert_eq!(
            serde_json::from_slice::<SuccessorMessage>(unknown).unwrap(),
            SuccessorMessage::Unknown
        );
        assert_eq!(
            serde_json::from_slice::<PredecessorMessage>(unknown).unwrap(),
            PredecessorMessage::Unknown
        );
        let more = br#"{"word":"ready","inAHurry":true}"#;
        assert_eq!(
            serde_json::from_slice::<SuccessorMessage>(more).unwrap(),
            SuccessorMessage::Ready
        );
    }

    #[test]
    fn a_request_of_any_version_is_parsed() {
        let asked = br#"{"word":"ask","conversation":2,"version":"9.0.0","pid":7}"#;
        let (version, acknowledges, shim_socket) = ("9.0.0".into(), false, false);
        let wanted =
            SuccessorMessage::Ask { conversation: 2, version, pid: 7, acknowledges, shim_socket };
        assert_eq!(serde_json::from_slice::<SuccessorMessage>(asked).unwrap(), wanted);
    }

    #[test]
    fn the_tags_on_the_wire_never_change() {
        let tag = |message: serde_json::Value| message["word"].as_str().map(str::to_owned);
        let tell = SuccessorMessage::Forward { session: "s".into(), message: "m".into() };
        let subscriptions = PredecessorMessage::Subscriptions {
            session: "s".into(),
            resources: Vec::new(),
            level: None,
        };
        assert_eq!(tag(serde_json::to_value(tell).unwrap()).as_deref(), Some("tell"));
        assert_eq!(tag(serde_json::to_value(subscriptions).unwrap()).as_deref(), Some("wishes"));
        assert_eq!(
            tag(serde_json::to_value(PredecessorMessage::Granted).unwrap()).as_deref(),
            Some("yours")
        );
    }

    /// A message of 0.1.0 is parsed, and serialises to the same text.
    fn check<M: Serialize + for<'a> Deserialize<'a>>(messages: &str) -> Vec<M> {
        let check = |line: &str| {
            let message: M = serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_string(&message).unwrap(), line);
            message
        };
        messages.lines().map(check).collect()
    }

    #[test]
    fn the_messages_of_0_1_0_are_unchanged() {
        let successor = include_str!("../../../../tests/fixtures/0.1.0/handover/successor.jsonl");
        let successor = check::<SuccessorMessage>(successor);
        assert!(matches!(
            &successor[..],
            [
                SuccessorMessage::Ask { conversation: HANDOVER_VERSION, .. },
                SuccessorMessage::Ready,
                SuccessorMessage::Serving,
                SuccessorMessage::Forward { .. },
            ]
        ));
        let predecessor =
            include_str!("../../../../tests/fixtures/0.1.0/handover/predecessor.jsonl");
        let predecessor = check::<PredecessorMessage>(predecessor);
        assert!(matches!(
            &predecessor[..],
            [
                PredecessorMessage::Welcome,
                PredecessorMessage::Refused { .. },
                PredecessorMessage::Granted,
                PredecessorMessage::Go { .. },
                PredecessorMessage::Go { .. },
                PredecessorMessage::Connection { .. },
                PredecessorMessage::Connection { .. },
                PredecessorMessage::Subscriptions { .. },
                PredecessorMessage::Subscriptions { .. },
            ]
        ));
    }
}
