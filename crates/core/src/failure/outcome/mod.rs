//! The answer to a call that got no answer from its upstream.
//!
//! Nothing in MCP makes a tool call safe to repeat, so the answer must say whether the call can
//! have run. *Not delivered* (`not_sent`) means that nothing left the gateway: calling again is
//! safe. *Outcome unknown* (`unknown`) means that it was sent and no reply came: it may or may not
//! have run. `text` tells the model, `details` (in `_meta`) tells a program; neither is ever empty.
//! Within the gateway, the type [`Answer`] says who answered.

mod answer;
mod details;
mod text;

use std::time::{Duration, SystemTime};

pub use answer::{Answer, AnswerOrigin};

use crate::protocol::envelope::{Id, Outcome, Response};
use crate::protocol::json::Raw;
use crate::protocol::mcp::method;
use crate::protocol::params::Params;

/// The `_meta` key of the details.
pub const META_KEY: &str = "dev.evermoor/outcome";

/// A call that ended without a reply from its upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndeliveredCall<'a> {
    /// The tool name or the method that was called.
    pub subject: &'a str,
    /// Whether `subject` is a tool; if so, the answer is a result that the model can read.
    pub is_tool: bool,
    /// The upstream's name in the configuration.
    pub upstream: &'a str,
    /// The upstream's display name.
    pub title: &'a str,
    pub fate: DeliveryStatus,
    /// The last error in a few words: "connection refused".
    pub detail: &'a str,
    /// How many attempts were made to send it.
    pub attempts: u32,
    /// How long the call was held.
    pub held: Duration,
    /// When a new call may succeed, if known.
    pub retry_after: Option<Duration>,
}

/// How far a call got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// Nothing left the gateway.
    NotSent(NotSent),
    /// It was sent at this time, and no reply came.
    Unknown(Unknown, SystemTime),
    /// It was sent at this time, and the upstream answered that it cannot serve it now: most likely
    /// it did nothing, but that is not certain.
    Unavailable(SystemTime),
}

/// Why a call was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The upstream did not come back while the call was held.
    HoldExpired,
    /// The machine slept while the call was held.
    Slept,
    /// The upstream's program kept crashing while the call was held.
    CrashLooping,
    /// The upstream rejects every session right after creating it.
    SessionRefused,
    /// Too many calls are already held.
    QueueFull,
    /// Too many clients have a connection of their own to the upstream.
    TooManyClients,
    /// The upstream requires credentials.
    AuthRequired,
    /// The upstream rejected it because it is busy.
    Busy,
    /// The user paused the upstream.
    Paused,
    /// The gateway is stopping, or this upstream was removed.
    ShuttingDown,
    /// A filter in the configuration hides what was called.
    Hidden,
}

/// Why it is unknown whether a call ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The connection broke before the reply.
    ConnectionReset,
    /// The reply stream ended before the reply.
    EofBeforeReply,
    /// A proxy between the gateway and the upstream gave up.
    BadGateway,
    /// No reply within the time limit.
    Timeout,
    /// The reply could not be parsed.
    MalformedReply,
    /// The upstream's process exited during the call.
    UpstreamCrashed,
    /// The reply exceeded the gateway's size limit; the call did run.
    ReplyTooLarge,
    /// The upstream is connected but has stopped responding.
    Stalled,
    /// The gateway itself exited during the call.
    GatewayRestarted,
}

impl UndeliveredCall<'_> {
    /// The answer for the editor.
    pub fn answer(&self, id: Id) -> Response {
        let (details, text) = (self.details(), self.text());
        if self.is_tool {
            let result = serde_json::json!({
                "content": [{ "type": "text", "text": text }],
                "isError": true,
                "_meta": { META_KEY: details },
            });
            return Response::result(id, Raw::of(&result));
        }
        let error = serde_json::json!({ "code": details.code, "message": text, "data": details });
        Response { id: Some(id), outcome: Outcome::Error(Raw::of(&error)) }
    }
}

/// What a request calls: the tool's name for a tool call (with `true`), else the method.
pub fn subject(called: &str, params: Option<&Params>) -> (String, bool) {
    if called != method::TOOLS_CALL {
        return (called.to_owned(), false);
    }
    let name = params.and_then(|params| params.text_member("name"));
    (name.unwrap_or_else(|| called.to_owned()), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undelivered(fate: DeliveryStatus, is_tool: bool) -> UndeliveredCall<'static> {
        UndeliveredCall {
            subject: if is_tool { "create_memory" } else { "resources/read" },
            is_tool,
            upstream: "pieces",
            title: "Pieces",
            fate,
            detail: "connection refused",
            attempts: 9,
            held: Duration::from_secs(25),
            retry_after: Some(Duration::from_secs(5)),
        }
    }

    fn answer(fate: DeliveryStatus, is_tool: bool) -> serde_json::Value {
        let bytes = undelivered(fate, is_tool).answer(Id::number(7)).to_bytes();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn a_call_that_was_not_sent_says_that_nothing_ran_and_may_be_repeated() {
        insta::assert_json_snapshot!(answer(DeliveryStatus::NotSent(NotSent::HoldExpired), true));
    }

    #[test]
    fn a_call_without_a_reply_says_that_it_may_have_run() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_763_215_387_512);
        insta::assert_json_snapshot!(answer(
            DeliveryStatus::Unknown(Unknown::ConnectionReset, at),
            true
        ));
    }

    #[test]
    fn the_documents_quote_both_answers_word_for_word() {
        let page = include_str!("../../../../../docs/how-it-works.md").replace("\n> ", " ");
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_763_215_387_512);
        for (fate, detail) in [
            (DeliveryStatus::NotSent(NotSent::HoldExpired), "connection refused"),
            (DeliveryStatus::Unknown(Unknown::ConnectionReset, at), "connection closed"),
        ] {
            let text = UndeliveredCall { detail, ..undelivered(fate, true) }.text();
            assert!(page.contains(&text), "docs/how-it-works.md does not quote: {text}");
        }
    }

    #[test]
    fn a_call_that_could_not_be_served_is_an_answer_that_most_likely_did_nothing() {
        let result = &answer(DeliveryStatus::Unavailable(SystemTime::UNIX_EPOCH), true)["result"];
        let details = &result["_meta"][META_KEY];
        assert_eq!(result["isError"], true);
        assert_eq!(
            (&details["executed"], &details["origin"]),
            (&"unlikely".into(), &"upstream".into())
        );
        assert_eq!(details["safeToRetry"], false);
    }

    #[test]
    fn a_call_to_a_hidden_item_is_not_safe_to_retry() {
        let error = &answer(DeliveryStatus::NotSent(NotSent::Hidden), false)["error"];
        assert_eq!(
            (&error["code"], &error["data"]["cause"], &error["data"]["safeToRetry"]),
            (&(-33005).into(), &"hidden".into(), &false.into())
        );
        assert!(error["message"].as_str().unwrap().contains("a list in config.toml hides it"));
    }

    #[test]
    fn a_call_to_a_paused_upstream_says_how_to_resume_it() {
        let answer = answer(DeliveryStatus::NotSent(NotSent::Paused), true);
        let details = &answer["result"]["_meta"][META_KEY];
        assert_eq!(
            (details["code"].as_i64(), details["cause"].as_str()),
            (Some(-33001), Some("paused"))
        );
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("the user paused it") && text.contains("`evermoor resume pieces`"));
    }

    #[test]
    fn a_method_other_than_a_tool_call_gets_an_error() {
        let error = &answer(DeliveryStatus::NotSent(NotSent::HoldExpired), false)["error"];
        assert_eq!(
            (error["code"].as_i64(), error["data"]["outcome"].as_str()),
            (Some(-33003), Some("not_sent"))
        );
    }

    #[test]
    fn the_subject_of_a_tool_call_is_the_tool() {
        let params = Params::from(Raw::of(&serde_json::json!({ "name": "echo", "arguments": {} })));
        assert_eq!(subject("tools/call", Some(&params)), ("echo".into(), true));
        assert_eq!(subject("resources/read", Some(&params)), ("resources/read".into(), false));
    }
}
