//! What two gateways say to each other while one takes the other's place.
//!
//! ```text
//! the one that comes          the one that goes
//!   connects
//!                  ◀──────    Welcome, when nobody else is being attended to
//!   tries its upstreams
//!   Ask            ──────▶      stops accepting
//!                  ◀──────    Yours, with the listening socket and the lock
//!   Ready          ──────▶      gives the pen away: nothing more is written by it
//!                  ◀──────    Go
//!   reads what was written, announces itself, accepts
//!   Serving        ──────▶      lets go of its own copies and finishes its calls
//!   Tell …         ──────▶
//!                  ◀──────    Connection …, Wishes …
//! ```
//!
//! Until `Serving` is heard, the one that goes can go on as before, and does if the line breaks or
//! nothing comes. The two may be of different versions: a word that is not known is passed over, and
//! whoever asks says which of these conversations it knows.

use serde::{Deserialize, Serialize};

/// This conversation. A gateway that is asked for another one refuses.
pub const CONVERSATION: u32 = 1;

/// What the gateway that comes says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "camelCase")]
pub enum Coming {
    /// It asks for the place.
    Ask { conversation: u32, version: String, pid: u32 },
    /// It has the place and all it needs.
    Ready,
    /// It accepts connections from now on.
    Serving,
    /// What an editor said about a call that the other one still has.
    Tell { session: String, message: String },
    #[serde(other)]
    Unknown,
}

/// What the gateway that goes says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "camelCase")]
pub enum Going {
    /// It attends to whoever hears this, and to nobody else at the moment.
    Welcome,
    /// It does not give its place away.
    Refused { why: String },
    /// The listening socket and the lock come with this word.
    Yours,
    /// What is remembered is the other's from now on.
    Go {
        /// The codes of links to the dashboard that nobody has used yet, and how old each is, in
        /// milliseconds.
        #[serde(default)]
        links: Vec<(String, u64)>,
    },
    /// A connection at rest comes with this word.
    Connection {
        /// It has shown a good token.
        known: bool,
        /// The beginning of a request that was read already, in base64.
        read: String,
    },
    /// What a session wants to hear of was changed by a request that was still under way.
    Wishes { session: String, resources: Vec<(String, String)>, level: Option<String> },
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_later_version_are_passed_over() {
        let strange = br#"{"word":"sing","song":[1,2]}"#;
        assert_eq!(serde_json::from_slice::<Coming>(strange).unwrap(), Coming::Unknown);
        assert_eq!(serde_json::from_slice::<Going>(strange).unwrap(), Going::Unknown);
        let more = br#"{"word":"ready","inAHurry":true}"#;
        assert_eq!(serde_json::from_slice::<Coming>(more).unwrap(), Coming::Ready);
    }

    #[test]
    fn the_question_of_every_version_is_understood() {
        let asked = br#"{"word":"ask","conversation":2,"version":"9.0.0","pid":7}"#;
        let wanted = Coming::Ask { conversation: 2, version: "9.0.0".into(), pid: 7 };
        assert_eq!(serde_json::from_slice::<Coming>(asked).unwrap(), wanted);
    }
}
