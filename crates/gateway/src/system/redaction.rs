//! Removes secrets from everything that this process shows or logs.
//!
//! Any code can log, so the list of secrets is global to the process; it only grows. Failures are
//! redacted where they arise; responses of the control API and log lines are redacted again on their
//! way out.

use std::borrow::Cow;

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use http::header;
use http_body_util::BodyExt as _;
use parking_lot::RwLock;

use evermoor_core::failure::Failure;
use evermoor_core::security::known_secrets::{Redactor, Secret};

static HIDDEN: RwLock<Redactor> = RwLock::new(Redactor::new());

/// Redacts this value from now on.
pub fn hide(secret: &Secret) {
    HIDDEN.write().hide(secret);
}

/// The text without any secret.
pub fn scrub(text: &str) -> Cow<'_, str> {
    HIDDEN.read().scrub(text)
}

/// The failure without any secret.
pub fn of(failure: Failure) -> Failure {
    let clean = |text: String| match scrub(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(clean) => clean,
    };
    Failure { what: clean(failure.what), remedy: clean(failure.remedy), ..failure }
}

/// Redacts the response to a request. New tokens are not on the list, so they can be shown once.
pub(crate) async fn answers(request: Request, next: Next) -> Response {
    let answer = next.run(request).await;
    if HIDDEN.read().is_empty() {
        return answer;
    }
    let (mut head, body) = answer.into_parts();
    // Redaction changes the length.
    head.headers.remove(header::CONTENT_LENGTH);
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

/// A writer that redacts; each write must be a whole line.
pub struct RedactingWriter<W>(pub W);

impl<W: std::io::Write> std::io::Write for RedactingWriter<W> {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        match std::str::from_utf8(line).map(scrub) {
            Ok(Cow::Owned(clean)) => self.0.write_all(clean.as_bytes())?,
            Ok(Cow::Borrowed(_)) | Err(_) => self.0.write_all(line)?,
        }
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
}
