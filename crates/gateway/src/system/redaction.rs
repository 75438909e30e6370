//! Removes secrets from everything that this process shows or logs, and makes what others wrote safe
//! to show.
//!
//! Any code can log, so the list of secrets is global to the process. Only tokens that were replaced
//! leave it. Failures are redacted where they arise; responses of the control API and log lines are
//! redacted again on their way out. What others wrote is redacted before it is cut, so that no part
//! of a secret remains.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use http::header;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use parking_lot::RwLock;

use evermoor_core::failure::Failure;
use evermoor_core::security::foreign_text;
use evermoor_core::security::redaction::known::{Redactor, Secret};

use crate::system::message_parser;

/// Shared, so that nobody waits for the lock while a large text is searched.
static HIDDEN: LazyLock<RwLock<Arc<Redactor>>> = LazyLock::new(RwLock::default);

fn hidden() -> Arc<Redactor> {
    Arc::clone(&HIDDEN.read())
}

/// Redacts this value from now on.
pub fn hide(secret: &Secret) {
    Arc::make_mut(&mut HIDDEN.write()).hide(secret);
}

/// No longer redacts this value, because it can no longer be used.
pub fn forget(secret: &Secret) {
    Arc::make_mut(&mut HIDDEN.write()).forget(secret);
}

/// The text without any secret.
pub fn scrub(text: &str) -> Cow<'_, str> {
    hidden().scrub(text)
}

/// How much of a text is searched for secrets, for each character that is shown of it.
pub(crate) const SEARCHED: usize = 10;

/// At most `length` characters of what others wrote, in one line and without any secret.
pub fn excerpt(text: &[u8], length: usize) -> String {
    let searched = &text[..text.len().min(length.saturating_mul(SEARCHED))];
    let whole = searched.len() == text.len();
    let searched = String::from_utf8_lossy(searched);
    let scrubbed = match whole {
        true => scrub(&searched),
        // The cut may be within a character.
        false => hidden()
            .scrub_start(searched.trim_end_matches(char::REPLACEMENT_CHARACTER))
            .into_owned()
            .into(),
    };
    let shown = foreign_text::line(&scrubbed);
    let words: Vec<&str> = shown.split_whitespace().collect();
    let shown = words.join(" ");
    match shown.char_indices().nth(length) {
        Some((cut, _)) => format!("{}…", &shown[..cut]),
        None => shown,
    }
}

/// No sentence of a failure is longer.
const LONGEST_SENTENCE: usize = 1_000;

/// The failure without any secret, in sentences that can be shown.
pub fn of(failure: Failure) -> Failure {
    let clean = |text: String| excerpt(text.as_bytes(), LONGEST_SENTENCE);
    Failure { what: clean(failure.what), remedy: clean(failure.remedy), ..failure }
}

/// Redacts the response to a request. New tokens are not on the list, so they can be shown once.
pub(crate) async fn answers(request: Request, next: Next) -> Response {
    let answer = next.run(request).await;
    if hidden().is_empty() {
        return answer;
    }
    let (mut head, body) = answer.into_parts();
    // Redaction changes the length.
    head.headers.remove(header::CONTENT_LENGTH);
    let length = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
    if let Some(length) = length.filter(|length| message_parser::is_large(*length)) {
        // It is in memory already, so collecting it neither fails nor waits.
        let whole = body.collect().await.map(|whole| whole.to_bytes()).unwrap_or_default();
        let clean = message_parser::process(length, move || clean(whole)).await;
        return Response::from_parts(head, Body::from(clean));
    }
    // A response, and each event of a stream, is one frame.
    let body = body.map_frame(|frame| frame.map_data(clean));
    Response::from_parts(head, Body::new(body))
}

fn clean(data: Bytes) -> Bytes {
    let Ok(text) = std::str::from_utf8(&data) else { return data };
    match scrub(text) {
        Cow::Borrowed(_) => data,
        Cow::Owned(clean) => clean.into(),
    }
}

/// A writer for a terminal: it redacts and leaves out control characters. Each write must be a whole
/// line.
pub struct RedactingWriter<W>(pub W);

impl<W: std::io::Write> std::io::Write for RedactingWriter<W> {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = scrub(text.trim_end_matches('\n'));
        let text = foreign_text::styled_line(&text);
        self.0.write_all(format!("{text}\n").as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::failure::Code;
    use std::io::Write as _;

    #[test]
    fn a_secret_appears_in_no_failure_and_in_no_log_line() {
        hide(&Secret::new("canary-of-redaction"));
        let said = "It refused canary-of-redaction.";
        let failure = of(Failure::new(Code::Refused, said, "Nothing."));
        assert_eq!(failure.what, "It refused [secret].");
        let mut log = Vec::new();
        RedactingWriter(&mut log).write_all(b"key=canary-of-redaction\n").unwrap();
        assert_eq!(log, b"key=[secret]\n");
    }

    #[test]
    fn a_line_of_the_log_stays_one_line_and_gives_the_terminal_no_command() {
        let mut log = Vec::new();
        let said = b"\x1b[32mINFO\x1b[0m said \x1b]0;x\x07\nWARN forged\n";
        RedactingWriter(&mut log).write_all(said).unwrap();
        let shown = String::from_utf8(log).unwrap();
        assert_eq!(shown, "\x1b[32mINFO\x1b[0m said \u{fffd}]0;x\u{fffd} WARN forged\n");
    }

    #[test]
    fn an_excerpt_contains_no_part_of_a_secret() {
        let token = "tok-0123456789abcdef".repeat(300);
        hide(&Secret::new(token.clone()));
        for said in [format!("refused: {token}"), format!("refused: {}", &token[..3_000])] {
            assert_eq!(excerpt(said.as_bytes(), 200), "refused: [secret]");
        }
        let long = "word ".repeat(100);
        assert_eq!(excerpt(long.as_bytes(), 10), "word word …");
        assert_eq!(excerpt(b"one\n\x1b[2Jtwo\xff", 20), "one two\u{fffd}");
    }
}
