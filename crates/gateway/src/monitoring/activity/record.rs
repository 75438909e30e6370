//! One call on its way to its answer, as it will be shown.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use evermoor_core::api::CallOutcome;
use evermoor_core::failure::outcome::META_KEY;
use evermoor_core::protocol::envelope::{Outcome, Request, Response};
use evermoor_core::protocol::event_id::Call;
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;

use super::{Activity, FinishedCall, millis};
use crate::routing::view::{Scope, View};
use crate::upstream::Handle;

/// A call that has begun. It is told when it is closed; one that is dropped before was cancelled.
pub struct Record {
    open: Option<OpenCall>,
}

struct OpenCall {
    activity: Activity,
    editor: Arc<str>,
    client: Option<Box<str>>,
    tool: Box<str>,
    began: Instant,
    /// Whether the editor calls it by another name than its upstream.
    merged: bool,
    /// Who is to answer.
    upstream: Option<Box<str>>,
}

impl Record {
    /// Begins, if it is a call: lists and signs of life are none.
    pub fn begin(
        activity: &Activity,
        view: &View,
        client: Option<&str>,
        request: &Request,
        call: &Call,
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
            merged: matches!(view.scope, Scope::All),
            upstream: None,
        });
        Self { open }
    }

    /// This upstream is to answer, asked in its own words.
    pub fn address(&mut self, upstream: &Handle, own: &Request) {
        let Some(open) = &mut self.open else { return };
        if open.merged {
            open.tool = Call::of(own).subject.into();
        }
        open.upstream = Some(upstream.name().as_str().into());
    }

    /// This is its answer, of which it waited so long.
    pub fn close(&mut self, response: &Response, held: Duration) {
        if let Some(open) = self.open.take() {
            let outcome = match open.upstream {
                Some(_) => outcome(response),
                None => CallOutcome::Refused,
            };
            open.tell(outcome, held);
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            open.tell(CallOutcome::Cancelled, Duration::ZERO);
        }
    }
}

impl OpenCall {
    fn tell(self, outcome: CallOutcome, held: Duration) {
        let took = self.began.elapsed();
        let whole = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.activity.add(FinishedCall {
            number: 0,
            at: millis(SystemTime::now()).saturating_sub(whole(took)),
            editor: self.editor,
            client: self.client,
            upstream: self.upstream,
            tool: self.tool,
            outcome,
            ms: whole(took),
            held_ms: whole(held.min(took)),
        });
    }
}

/// What became of a call, as its answer says.
fn outcome(response: &Response) -> CallOutcome {
    let details = match &response.outcome {
        Outcome::Result(result) if !says_error(result) => return CallOutcome::Ok,
        Outcome::Result(result) => result.member("_meta").and_then(|meta| meta.member(META_KEY)),
        Outcome::Error(error) => error.member("data"),
    };
    let word = |key| details.as_ref().and_then(|details| details.text_member(key));
    match (word("origin").as_deref(), word("outcome").as_deref()) {
        (Some("gateway"), Some("not_sent")) if word("cause").as_deref() == Some("hidden") => {
            CallOutcome::Refused
        }
        (Some("gateway"), Some("not_sent")) => CallOutcome::NotSent,
        (Some("gateway"), Some(_)) => CallOutcome::Unknown,
        (_, _) => CallOutcome::ToolError,
    }
}

/// Whether a result says that it is an error. Results are large and seldom say so: the word is
/// looked for before anything is parsed, and only near the ends: a flag that stands between two
/// large members is missed, but nobody explains an error at such length twice.
fn says_error(result: &Raw) -> bool {
    let bytes = result.as_bytes();
    let said = match bytes.len() <= 2 * NEAR {
        true => sets_flag(bytes),
        false => sets_flag(&bytes[..NEAR]) || sets_flag(&bytes[bytes.len() - NEAR..]),
    };
    said && result.member("isError").is_some_and(|flag| flag.as_str() == "true")
}

/// So much is looked at from either end.
const NEAR: usize = 8 << 10;

/// Whether it may be written here that the flag is set.
fn sets_flag(part: &[u8]) -> bool {
    const FLAG: &[u8] = b"\"isError\"";
    let set = |at: usize| {
        let value = part[at + FLAG.len()..].trim_ascii_start().strip_prefix(b":");
        value.is_some_and(|value| value.trim_ascii_start().starts_with(b"true"))
    };
    // A quote is rare in large texts, compared with any letter of the word.
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
    use evermoor_core::failure::outcome::{Fate, NotSent, Undelivered, Unknown};
    use evermoor_core::protocol::envelope::Id;
    use serde_json::json;

    fn of(result: serde_json::Value) -> CallOutcome {
        outcome(&Response::result(Id::number(1), Raw::of(&result)))
    }

    fn undelivered(fate: Fate, is_tool: bool) -> CallOutcome {
        let (upstream, title, detail) = ("a", "A", "x");
        let held = Duration::ZERO;
        let subject = "echo";
        let it = Undelivered {
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
        outcome(&it.answer(Id::number(1)))
    }

    #[test]
    fn an_answer_says_what_became_of_its_call() {
        assert_eq!(of(json!({ "content": [] })), CallOutcome::Ok);
        assert_eq!(of(json!({ "content": [], "isError": false })), CallOutcome::Ok);
        assert_eq!(of(json!({ "content": [], "isError": true })), CallOutcome::ToolError);
        let error = Response::error(Some(Id::number(1)), -32602, "no");
        assert_eq!(outcome(&error), CallOutcome::ToolError);
    }

    #[test]
    fn what_a_tool_talks_about_is_not_what_became_of_it() {
        let text = r#"{"isError": true}"#;
        assert_eq!(of(json!({ "content": [{ "type": "text", "text": text }] })), CallOutcome::Ok);
        assert_eq!(of(json!({ "structuredContent": { "isError": true } })), CallOutcome::Ok);
    }

    #[test]
    fn a_large_result_is_looked_at_near_its_ends_only() {
        let large = "x".repeat(3 * NEAR);
        let flag_last = format!(r#"{{"content":["{large}"],"isError":true}}"#);
        let flag_first = format!(r#"{{"isError": true,"content":["{large}"]}}"#);
        let well = format!(r#"{{"content":["{large}"],"isError":false}}"#);
        let quoted = format!(r#"{{"content":["{large}",{{"isError":true}}]}}"#);
        let of = |text: String| says_error(&Raw::parse(text.into()).unwrap());
        assert!(of(flag_last) && of(flag_first));
        assert!(!of(well) && !of(quoted));
    }

    #[test]
    fn what_the_gateway_says_of_a_call_is_believed() {
        let now = SystemTime::now();
        for is_tool in [true, false] {
            let said = |fate| undelivered(fate, is_tool);
            assert_eq!(said(Fate::NotSent(NotSent::HoldExpired)), CallOutcome::NotSent);
            assert_eq!(said(Fate::NotSent(NotSent::Hidden)), CallOutcome::Refused);
            assert_eq!(said(Fate::Unknown(Unknown::Timeout, now)), CallOutcome::Unknown);
            assert_eq!(said(Fate::Unavailable(now)), CallOutcome::ToolError);
        }
    }
}
