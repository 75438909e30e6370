//! The answer to a call that its upstream did not answer.
//!
//! Nothing in MCP makes a tool call safe to repeat, so the one thing an editor must be told is
//! whether the call can have run. *Not sent* means nothing left the gateway: calling again is
//! safe. *Unknown* means it was sent and no reply came: it may or may not have run. The text says
//! so to the model, `_meta` says so to a program, and neither is ever empty.

mod details;
mod text;

use std::time::{Duration, SystemTime};

use crate::protocol::envelope::{Id, Outcome, Response};
use crate::protocol::json::Raw;
use crate::protocol::mcp::method;

/// The key under which a program finds the details.
pub const META_KEY: &str = "dev.evermoor/outcome";

/// A call that ended without a reply from its upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered<'a> {
    /// What was called: a tool's name, or a method.
    pub subject: &'a str,
    /// Whether `subject` is a tool; then the answer is a result that the model can read.
    pub is_tool: bool,
    /// The upstream's name in the configuration.
    pub upstream: &'a str,
    /// What a person calls the upstream.
    pub title: &'a str,
    pub fate: Fate,
    /// What was seen, in a few words: "connection refused".
    pub detail: &'a str,
    /// How often sending was tried.
    pub attempts: u32,
    /// How long the call waited for its upstream.
    pub held: Duration,
    /// When it may be worth calling again, where that is known.
    pub retry_after: Option<Duration>,
}

/// How far a call got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing left the gateway.
    NotSent(NotSent),
    /// It was sent at this moment, and no reply came.
    Unknown(Unknown, SystemTime),
    /// It was sent at this moment, and the upstream answered that it cannot serve now: most likely
    /// before it did anything, but nothing says so.
    Unavailable(SystemTime),
}

/// Why a call was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The upstream did not come back while the call was held.
    HoldExpired,
    /// The machine slept while the call was held.
    Slept,
    /// The upstream's program ended again and again while the call was held.
    CrashLooping,
    /// The upstream forgets every session as soon as it is made.
    SessionRefused,
    /// Too many calls wait already.
    QueueFull,
    /// The upstream wants credentials.
    AuthRequired,
    /// The upstream turned it away because it is busy.
    Busy,
    /// A person paused the upstream.
    Paused,
    /// The gateway is being stopped, or keeps this upstream no longer.
    ShuttingDown,
    /// A list in the configuration hides what was called.
    Hidden,
}

/// Why it cannot be known whether a call ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The connection broke before the reply.
    ConnectionReset,
    /// The reply stream ended before the reply.
    EofBeforeReply,
    /// Something between the gateway and the upstream gave up.
    BadGateway,
    /// No reply within the time limit.
    Timeout,
    /// The reply could not be read.
    MalformedReply,
    /// The upstream's process ended during the call.
    UpstreamCrashed,
    /// The reply was larger than the gateway holds; the call did run.
    ReplyTooLarge,
    /// The upstream is there and has stopped answering.
    Stalled,
    /// The gateway itself ended while the call was under way.
    GatewayRestarted,
}

impl Undelivered<'_> {
    /// The one answer that the editor gets.
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

/// What `params` of a request call by name: a tool's name, or the method itself.
pub fn subject(called: &str, params: Option<&Raw>) -> (String, bool) {
    if called != method::TOOLS_CALL {
        return (called.to_owned(), false);
    }
    let name = params.and_then(|params| params.text_member("name"));
    (name.unwrap_or_else(|| called.to_owned()), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undelivered(fate: Fate, is_tool: bool) -> Undelivered<'static> {
        Undelivered {
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

    fn answer(fate: Fate, is_tool: bool) -> serde_json::Value {
        let bytes = undelivered(fate, is_tool).answer(Id::number(7)).to_bytes();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn a_call_that_was_not_sent_says_that_nothing_ran_and_may_be_repeated() {
        insta::assert_json_snapshot!(answer(Fate::NotSent(NotSent::HoldExpired), true));
    }

    #[test]
    fn a_call_without_a_reply_says_that_it_may_have_run() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_763_215_387_512);
        insta::assert_json_snapshot!(answer(Fate::Unknown(Unknown::ConnectionReset, at), true));
    }

    #[test]
    fn the_documents_quote_both_answers_word_for_word() {
        let page = include_str!("../../../../../docs/how-it-works.md").replace("\n> ", " ");
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_763_215_387_512);
        for (fate, detail) in [
            (Fate::NotSent(NotSent::HoldExpired), "connection refused"),
            (Fate::Unknown(Unknown::ConnectionReset, at), "connection closed"),
        ] {
            let text = Undelivered { detail, ..undelivered(fate, true) }.text();
            assert!(page.contains(&text), "docs/how-it-works.md does not quote: {text}");
        }
    }

    #[test]
    fn a_call_that_could_not_be_served_is_an_answer_that_most_likely_did_nothing() {
        let result = &answer(Fate::Unavailable(SystemTime::UNIX_EPOCH), true)["result"];
        let details = &result["_meta"][META_KEY];
        assert_eq!(result["isError"], true);
        assert_eq!(
            (&details["executed"], &details["origin"]),
            (&"unlikely".into(), &"upstream".into())
        );
        assert_eq!(details["safeToRetry"], false);
    }

    #[test]
    fn a_call_of_something_hidden_is_not_worth_repeating() {
        let error = &answer(Fate::NotSent(NotSent::Hidden), false)["error"];
        assert_eq!(
            (&error["code"], &error["data"]["cause"], &error["data"]["safeToRetry"]),
            (&(-33005).into(), &"hidden".into(), &false.into())
        );
        assert!(error["message"].as_str().unwrap().contains("a list in config.toml hides it"));
    }

    #[test]
    fn a_call_to_what_a_person_paused_says_who_can_resume_it_and_how() {
        let answer = answer(Fate::NotSent(NotSent::Paused), true);
        let details = &answer["result"]["_meta"][META_KEY];
        assert_eq!(
            (details["code"].as_i64(), details["cause"].as_str()),
            (Some(-33001), Some("paused"))
        );
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("a person paused it") && text.contains("`evermoor resume pieces`"));
    }

    #[test]
    fn a_method_that_is_no_tool_call_gets_an_error() {
        let error = &answer(Fate::NotSent(NotSent::HoldExpired), false)["error"];
        assert_eq!(
            (error["code"].as_i64(), error["data"]["outcome"].as_str()),
            (Some(-33003), Some("not_sent"))
        );
    }

    #[test]
    fn the_subject_of_a_tool_call_is_the_tool() {
        let params = Raw::of(&serde_json::json!({ "name": "echo", "arguments": {} }));
        assert_eq!(subject("tools/call", Some(&params)), ("echo".into(), true));
        assert_eq!(subject("resources/read", Some(&params)), ("resources/read".into(), false));
    }
}
