//! Records one call, from its request to its outcome.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use evermoor_core::api::CallOutcome;
use evermoor_core::failure::outcome::{Answer, AnswerOrigin, DeliveryStatus, NotSent};
use evermoor_core::protocol::envelope::{Outcome, Request};
use evermoor_core::protocol::event_id::CallRef;
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;
use evermoor_platform::clock;

use super::{Activity, FinishedCall};
use crate::routing::editor_view::{View, ViewScope};
use crate::system::redaction;
use crate::upstream::UpstreamHandle;

/// More of a tool's or a client's name is not kept.
const LONGEST_NAME: usize = 200;

/// A call in progress. Closing it records the outcome; dropping it before records a cancellation.
pub struct CallRecorder {
    open: Option<OpenCall>,
}

struct OpenCall {
    activity: Activity,
    editor: Arc<str>,
    client: Option<Box<str>>,
    tool: Box<str>,
    began: Instant,
    /// Whether the editor uses the merged name rather than the upstream's own.
    merged: bool,
    /// The upstream that is to answer.
    upstream: Option<Box<str>>,
}

impl CallRecorder {
    /// Begins a record, if the request is a call; lists and pings are not recorded.
    pub fn begin(
        activity: &Activity,
        view: &View,
        client: Option<&str>,
        request: &Request,
        call: &CallRef,
    ) -> Self {
        let called = request.method.as_str();
        let is_call =
            matches!(called, method::TOOLS_CALL | method::PROMPTS_GET | method::RESOURCES_READ);
        let open = is_call.then(|| OpenCall {
            activity: activity.clone(),
            editor: Arc::clone(view.editor()),
            client: client.filter(|name| !name.is_empty()).map(Into::into),
            tool: call.subject.as_str().into(),
            began: Instant::now(),
            merged: matches!(view.scope, ViewScope::All),
            upstream: None,
        });
        Self { open }
    }

    /// Sets the upstream, and the request as it is sent to it.
    pub fn address(&mut self, upstream: &UpstreamHandle, own: &Request) {
        let Some(open) = &mut self.open else { return };
        if open.merged {
            open.tool = CallRef::of(own).subject.into();
        }
        open.upstream = Some(upstream.name().as_str().into());
    }

    /// Records the answer. `held` is how long the call was held.
    pub fn close(&mut self, answer: &Answer, held: Duration) {
        if let Some(open) = self.open.take() {
            let outcome = match open.upstream {
                Some(_) => outcome(answer),
                None => CallOutcome::Refused,
            };
            open.tell(outcome, held);
        }
    }
}

impl Drop for CallRecorder {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            open.tell(CallOutcome::Cancelled, Duration::ZERO);
        }
    }
}

impl OpenCall {
    fn tell(self, outcome: CallOutcome, held: Duration) {
        let took = self.began.elapsed();
        let name = |text: Box<str>| -> Box<str> {
            redaction::excerpt(text.as_bytes(), LONGEST_NAME).into()
        };
        let whole = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.activity.add(FinishedCall {
            number: 0,
            at: clock::unix_millis().saturating_sub(whole(took)),
            editor: self.editor,
            client: self.client.map(name),
            upstream: self.upstream,
            tool: name(self.tool),
            outcome,
            ms: whole(took),
            held_ms: whole(held.min(took)),
        });
    }
}

/// The outcome of a call.
fn outcome(answer: &Answer) -> CallOutcome {
    match answer.origin {
        AnswerOrigin::Undelivered(DeliveryStatus::NotSent(NotSent::Hidden)) => CallOutcome::Refused,
        AnswerOrigin::Undelivered(DeliveryStatus::NotSent(_)) => CallOutcome::NotSent,
        AnswerOrigin::Undelivered(DeliveryStatus::Unknown(..)) => CallOutcome::Unknown,
        AnswerOrigin::Undelivered(DeliveryStatus::Unavailable(_)) => CallOutcome::ToolError,
        AnswerOrigin::Upstream(_) | AnswerOrigin::Gateway => match &answer.response.outcome {
            Outcome::Result(result) if !says_error(result) => CallOutcome::Ok,
            Outcome::Result(_) | Outcome::Error(_) => CallOutcome::ToolError,
        },
    }
}

/// Whether a result has `isError: true`. Results can be large and rarely have it, so the raw text is
/// searched before anything is parsed, and only near both ends. A flag between two large members is
/// missed, which hardly ever occurs.
fn says_error(result: &Raw) -> bool {
    let bytes = result.as_bytes();
    let said = match bytes.len() <= 2 * SEARCHED {
        true => sets_flag(bytes),
        false => sets_flag(&bytes[..SEARCHED]) || sets_flag(&bytes[bytes.len() - SEARCHED..]),
    };
    said && result.member("isError").is_some_and(|flag| flag.as_str() == "true")
}

/// How many bytes are searched at each end.
const SEARCHED: usize = 8 << 10;

/// Whether this part of the text may set the flag.
fn sets_flag(part: &[u8]) -> bool {
    const FLAG: &[u8] = b"\"isError\"";
    let set = |at: usize| {
        let value = part[at + FLAG.len()..].trim_ascii_start().strip_prefix(b":");
        value.is_some_and(|value| value.trim_ascii_start().starts_with(b"true"))
    };
    // In large texts a quote is rarer than any letter of the name.
    let mut from = 0;
    while let Some(quote) = part[from..].iter().position(|byte| *byte == b'"') {
        let at = from + quote;
        if part[at..].starts_with(FLAG) && set(at) {
            return true;
        }
        from = at + 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::failure::outcome::{META_KEY, UndeliveredCall, Unknown};
    use evermoor_core::protocol::envelope::{Id, Response};
    use evermoor_core::protocol::version::ProtocolVersion;
    use serde_json::json;

    fn of(result: serde_json::Value) -> CallOutcome {
        let response = Response::result(Id::number(1), Raw::of(&result));
        outcome(&Answer::from_upstream(response, ProtocolVersion::Stateless))
    }

    fn undelivered(fate: DeliveryStatus, is_tool: bool) -> CallOutcome {
        let (upstream, title, detail) = ("a", "A", "x");
        let held = Duration::ZERO;
        let subject = "echo";
        let it = UndeliveredCall {
            subject,
            is_tool,
            upstream,
            title,
            fate,
            detail,
            attempts: 1,
            held,
            retry_after: None,
        };
        outcome(&Answer::undelivered(&it, Id::number(1)))
    }

    #[test]
    fn a_response_determines_the_outcome() {
        assert_eq!(of(json!({ "content": [] })), CallOutcome::Ok);
        assert_eq!(of(json!({ "content": [], "isError": false })), CallOutcome::Ok);
        assert_eq!(of(json!({ "content": [], "isError": true })), CallOutcome::ToolError);
        let error = Response::error(Some(Id::number(1)), -32602, "no");
        assert_eq!(
            outcome(&Answer::from_upstream(error, ProtocolVersion::Stateless)),
            CallOutcome::ToolError
        );
    }

    #[test]
    fn an_upstream_cannot_pretend_that_a_call_was_not_sent() {
        let details = json!({ "origin": "gateway", "outcome": "not_sent" });
        let result = json!({ "content": [], "isError": true, "_meta": { META_KEY: details } });
        assert_eq!(of(result), CallOutcome::ToolError);
        let error = json!({ "code": -33003, "message": "no", "data": details });
        let error = Response { id: None, outcome: Outcome::Error(Raw::of(&error)) };
        assert_eq!(
            outcome(&Answer::from_upstream(error, ProtocolVersion::Stateless)),
            CallOutcome::ToolError
        );
    }

    #[test]
    fn the_content_of_a_result_does_not_affect_the_outcome() {
        let text = r#"{"isError": true}"#;
        assert_eq!(of(json!({ "content": [{ "type": "text", "text": text }] })), CallOutcome::Ok);
        assert_eq!(of(json!({ "structuredContent": { "isError": true } })), CallOutcome::Ok);
    }

    #[test]
    fn a_large_result_is_searched_only_near_its_ends() {
        let large = "x".repeat(3 * SEARCHED);
        let flag_last = format!(r#"{{"content":["{large}"],"isError":true}}"#);
        let flag_first = format!(r#"{{"isError": true,"content":["{large}"]}}"#);
        let well = format!(r#"{{"content":["{large}"],"isError":false}}"#);
        let quoted = format!(r#"{{"content":["{large}",{{"isError":true}}]}}"#);
        let of = |text: String| says_error(&Raw::parse(text.into()).unwrap());
        assert!(of(flag_last) && of(flag_first));
        assert!(!of(well) && !of(quoted));
    }

    #[test]
    fn the_gateways_own_errors_determine_the_outcome() {
        let now = clock::now();
        for is_tool in [true, false] {
            let said = |fate| undelivered(fate, is_tool);
            assert_eq!(said(DeliveryStatus::NotSent(NotSent::HoldExpired)), CallOutcome::NotSent);
            assert_eq!(said(DeliveryStatus::NotSent(NotSent::Hidden)), CallOutcome::Refused);
            assert_eq!(said(DeliveryStatus::Unknown(Unknown::Timeout, now)), CallOutcome::Unknown);
            assert_eq!(said(DeliveryStatus::Unavailable(now)), CallOutcome::ToolError);
        }
    }
}
