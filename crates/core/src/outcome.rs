//! The answer to a call that its upstream did not answer.
//!
//! Nothing in MCP makes a tool call safe to repeat, so the one thing an editor must be told is
//! whether the call can have run. *Not sent* means nothing left the gateway: calling again is
//! safe. *Unknown* means it was sent and no reply came: it may or may not have run. The text says
//! so to the model, `_meta` says so to a program, and neither is ever empty.

use std::time::{Duration, SystemTime};

use serde::Serialize;

use crate::envelope::{Id, Outcome, Response};
use crate::json::Raw;
use crate::protocol::method;

/// The key under which a program finds the details.
pub const META_KEY: &str = "dev.evermoor/outcome";

/// What JSON-RPC calls an error of the server.
const INTERNAL_ERROR: i32 = -32603;

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

impl NotSent {
    fn code(self) -> i32 {
        match self {
            Self::SessionRefused | Self::CrashLooping | Self::Paused => -33001,
            Self::HoldExpired | Self::Slept => -33003,
            Self::QueueFull | Self::Busy => -33002,
            Self::AuthRequired => -33004,
            Self::Hidden => -33005,
            Self::ShuttingDown => -33007,
        }
    }

    fn cause(self) -> &'static str {
        match self {
            Self::SessionRefused => "session_refused",
            Self::HoldExpired => "hold_expired",
            Self::Slept => "slept",
            Self::CrashLooping => "crash_looping",
            Self::QueueFull => "queue_full",
            Self::Busy => "busy",
            Self::AuthRequired => "auth_required",
            Self::Paused => "paused",
            Self::ShuttingDown => "shutting_down",
            Self::Hidden => "hidden",
        }
    }
}

impl Unknown {
    fn code(self) -> i32 {
        match self {
            Self::ConnectionReset | Self::EofBeforeReply | Self::BadGateway => -33010,
            Self::Timeout | Self::Stalled => -33011,
            Self::ReplyTooLarge => -33021,
            Self::GatewayRestarted | Self::UpstreamCrashed => -33012,
            Self::MalformedReply => -33020,
        }
    }

    fn cause(self) -> &'static str {
        match self {
            Self::ConnectionReset => "connection_reset",
            Self::EofBeforeReply => "eof_before_reply",
            Self::BadGateway => "bad_gateway",
            Self::Timeout => "timeout",
            Self::MalformedReply => "malformed_reply",
            Self::ReplyTooLarge => "reply_too_large",
            Self::Stalled => "stalled",
            Self::UpstreamCrashed => "upstream_crashed",
            Self::GatewayRestarted => "gateway_restarted",
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details<'a> {
    origin: &'a str,
    outcome: &'a str,
    code: i32,
    cause: &'a str,
    last_error: &'a str,
    upstream: &'a str,
    sent: bool,
    executed: &'a str,
    safe_to_retry: bool,
    attempts: u32,
    held_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_at: Option<String>,
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

    fn text(&self) -> String {
        let Self { subject, title, detail, .. } = self;
        match self.fate {
            Fate::NotSent(NotSent::QueueFull) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, because too many calls wait for it \
                 already. Nothing was executed, so it is safe to call it again in a few seconds."
            ),
            Fate::NotSent(NotSent::SessionRefused) => format!(
                "Not delivered: {title} turned \"{subject}\" away again and again ({detail}). Nothing was \
                 executed. Restart {title}, then call it again."
            ),
            Fate::NotSent(NotSent::Busy) => format!(
                "Not delivered: {title} turned \"{subject}\" away, because it is busy. Nothing was \
                 executed, so it is safe to call it again in a minute."
            ),
            Fate::NotSent(NotSent::ShuttingDown) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, because Evermoor is being stopped or \
                 its configuration was changed. Nothing was executed, so it is safe to call it again."
            ),
            Fate::NotSent(NotSent::Hidden) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, because a list in config.toml hides \
                 it ({detail}). Nothing was executed. To use it, change that list; it holds at once."
            ),
            Fate::NotSent(NotSent::Paused) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, because a person paused it in \
                 Evermoor. Nothing was executed. To use it again: `evermoor resume {}`, or the tray menu.",
                self.upstream
            ),
            Fate::NotSent(NotSent::AuthRequired) => format!(
                "Not delivered: {title} refused \"{subject}\" because it wants credentials ({detail}). \
                 Nothing was executed. Give Evermoor valid credentials for {title}, then call it again."
            ),
            Fate::NotSent(NotSent::Slept) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, because this machine slept while \
                 the call waited. Nothing was executed, so it is safe to call it again."
            ),
            Fate::NotSent(NotSent::HoldExpired | NotSent::CrashLooping) => format!(
                "Not delivered: \"{subject}\" was not sent to {title}, which has been unavailable for {} s \
                 ({detail}). Nothing was executed, so it is safe to call it again. Evermoor keeps reconnecting.",
                self.held.as_secs()
            ),
            Fate::Unknown(Unknown::ReplyTooLarge, _) => format!(
                "Reply lost: \"{subject}\" was executed by {title}, but {detail}, so it was discarded. \
                 Do not repeat the call; ask for less."
            ),
            Fate::Unavailable(_) => format!(
                "Refused: {title} answered \"{subject}\" with {detail}. Most likely it was not executed, but \
                 check whether it took effect before you call it again."
            ),
            Fate::Unknown(_, at) => format!(
                "Outcome unknown: \"{subject}\" was sent to {title} at {} but no reply arrived ({detail}). \
                 It may or may not have been executed. Do not repeat the call before checking whether it \
                 took effect.",
                moment(at)
            ),
        }
    }

    fn details(&self) -> Details<'_> {
        let (outcome, code, cause, sent_at) = match self.fate {
            Fate::NotSent(why) => ("not_sent", why.code(), why.cause(), None),
            Fate::Unknown(why @ Unknown::ReplyTooLarge, at) => {
                ("executed", why.code(), why.cause(), Some(at))
            }
            Fate::Unknown(why, at) => ("unknown", why.code(), why.cause(), Some(at)),
            Fate::Unavailable(at) => ("answered", INTERNAL_ERROR, "service_unavailable", Some(at)),
        };
        Details {
            origin: if outcome == "answered" { "upstream" } else { "gateway" },
            outcome,
            code,
            cause,
            last_error: self.detail,
            upstream: self.upstream,
            sent: sent_at.is_some(),
            executed: match self.fate {
                Fate::NotSent(_) => "no",
                Fate::Unknown(Unknown::ReplyTooLarge, _) => "yes",
                Fate::Unknown(_, _) => "unknown",
                Fate::Unavailable(_) => "unlikely",
            },
            safe_to_retry: sent_at.is_none() && self.fate != Fate::NotSent(NotSent::Hidden),
            attempts: self.attempts,
            held_ms: millis(self.held),
            retry_after_ms: self.retry_after.map(millis),
            sent_at: sent_at.map(|at| humantime::format_rfc3339_millis(at).to_string()),
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn moment(at: SystemTime) -> String {
    let full = humantime::format_rfc3339_seconds(at).to_string();
    full.split_once('T').map_or(full.clone(), |(_, time)| time.to_owned())
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
