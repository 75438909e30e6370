//! What an HTTP status or a transport error means: whether the session is gone, whether the call may
//! have been executed, and what the user should do.
//!
//! `reply` applies this to calls, `handshake` to connecting, `session_stream` and `subscription_stream` to
//! notifications. `mod.rs` decides about a call that was answered with 429, 502, 503 or 504. The HTTP+SSE
//! transport has rules of its own in `transport/sse.rs`, where a 404 does not mean that the session is gone.

use bytes::Bytes;
use http::{HeaderName, StatusCode, header};
use url::Url;

use evermoor_core::failure::outcome::Unknown;
use evermoor_core::failure::{Code, Failure};

use super::super::connection::{CallError, LARGEST_REPLY, excerpt};
use super::client::{HttpAnswer, HttpCallError, HttpClients};
use super::reply::body_or_nothing;
use crate::system::budget::NoRoom;

/// What to do about a header that was refused.
const REFUSED_HEADER: &str = "Correct it in `headers`, or store a new secret for it with `evermoor secret set NAME`. If the server wants a sign-in instead, remove the header and run `evermoor login`.";

/// What is known of a call whose answer did not arrive.
pub(super) fn lost(error: &HttpCallError) -> CallError {
    let why = if error.is_timeout() {
        Unknown::Timeout
    } else if error.is_cut_short() {
        Unknown::EofBeforeReply
    } else {
        Unknown::ConnectionReset
    };
    CallError::Unknown { why, detail: error.innermost(), connection_broke: true }
}

/// The code and the sentence for an error of a request to `at`.
fn explain(error: &HttpCallError, at: &str) -> (Code, String) {
    let why = error.innermost();
    let lower = why.to_lowercase();
    if let Some(tunnel) = error.tunnel() {
        return (Code::ConnectTimeout, format!("The proxy cannot connect to {at} ({tunnel})."));
    }
    let code = if error.is_timeout() {
        if error.is_connect() { Code::ConnectTimeout } else { Code::Timeout }
    } else if !error.is_connect() {
        Code::ConnectionLost
    } else if lower.contains("certificate") || lower.contains("tls") {
        Code::Tls
    } else if lower.contains("lookup")
        || lower.contains("resolve")
        || lower.contains("name or service")
    {
        Code::DnsFailure
    } else {
        Code::ConnectionRefused
    };
    let what = if code == Code::ConnectionRefused {
        format!("Connection refused at {at}.")
    } else if code == Code::ConnectTimeout {
        format!("No answer from {at}.")
    } else if code == Code::DnsFailure {
        format!("Host not found: {at}.")
    } else {
        format!("The connection to {at} failed ({why}).")
    };
    (code, what)
}

fn remedy(code: Code) -> &'static str {
    match code {
        Code::ConnectionRefused | Code::Timeout | Code::ConnectionLost | Code::SessionLost => {
            "Start the server; Evermoor reconnects automatically."
        }
        Code::DnsFailure | Code::ConnectTimeout => {
            "Check the URL and the network; Evermoor reconnects automatically."
        }
        Code::Tls => {
            "Check the server's certificate. If your company issued it, set `ca_file` to the company's CA certificate."
        }
        Code::AuthRequired => {
            "Sign in with `evermoor login`, or store its token with `evermoor secret set NAME` and use it in `headers` as `Bearer ${keyring:NAME}`."
        }
        Code::CrashLoop
        | Code::NotInstalled
        | Code::NotRunning
        | Code::Starting
        | Code::Crashed
        | Code::Quit
        | Code::Paused
        | Code::KeychainLocked
        | Code::KeychainRefused
        | Code::KeychainMissing
        | Code::SecretMissing
        | Code::Refused
        | Code::NotMcp
        | Code::Configuration
        | Code::TokenOff
        | Code::PortTaken
        | Code::NotFound
        | Code::Forbidden
        | Code::Internal => "Check its URL in the configuration.",
    }
}

/// The host and port of a URL, for texts.
pub(crate) fn host_and_port(url: &Url) -> String {
    let port = url.port_or_known_default().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host_str().unwrap_or_default())
}

pub(crate) fn failure(url: &Url, error: &HttpCallError) -> Failure {
    if let HttpCallError::NoToken(failure) = error {
        return failure.clone();
    }
    let (code, what) = explain(error, &host_and_port(url));
    let remedy = match error.tunnel() {
        Some(_) => "Check `proxy` and the system's proxy; Evermoor reconnects automatically.",
        None => remedy(code),
    };
    Failure::new(code, what, remedy)
}

pub(crate) async fn refused(url: &Url, clients: &HttpClients, answer: HttpAnswer) -> Failure {
    let status = answer.status();
    if let Some(redirected) = redirected(url, &answer) {
        return redirected;
    }
    refused_with(url, clients.credential(), status, &body_or_nothing(answer).await)
}

/// Whether a refusal means that the session is gone: 404 by the specification, but servers also send
/// 410, or 400 with a text about sessions, or 401 with such a text. A 401 that names a way to sign in
/// (`challenge`) means what it says.
pub(super) fn session_is_gone(status: StatusCode, challenge: bool, body: &Bytes) -> bool {
    let mentions = |words: &[&str]| {
        let text = excerpt(body).to_lowercase();
        words.iter().any(|word| text.contains(word))
    };
    match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => true,
        StatusCode::BAD_REQUEST => mentions(&["session", "not initialized"]),
        StatusCode::UNAUTHORIZED => !challenge && mentions(&["session"]),
        _ => false,
    }
}

/// Whether a refusal names a way to sign in.
pub(super) fn is_challenge(answer: &HttpAnswer) -> bool {
    answer.headers().contains_key(header::WWW_AUTHENTICATE)
}

/// Like [`refused`], for an answer whose body was read already. `credential` is the configured header that
/// said who asks.
pub(super) fn refused_with(
    url: &Url,
    credential: Option<&HeaderName>,
    status: StatusCode,
    body: &Bytes,
) -> Failure {
    let (server, said) = (host_and_port(url), excerpt(body));
    let code = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Code::AuthRequired,
        _ => Code::Refused,
    };
    match credential.filter(|_| code == Code::AuthRequired) {
        Some(header) => {
            let what =
                format!("{server} refused the configured header `{header}` ({status}): {said}");
            Failure::new(code, what, REFUSED_HEADER)
        }
        None => Failure::new(code, format!("{server} answered {status}: {said}"), remedy(code)),
    }
}

/// A redirect to another origin, which is not followed.
pub(super) fn redirected(url: &Url, answer: &HttpAnswer) -> Option<Failure> {
    let location = answer.headers().get(header::LOCATION)?.to_str().ok()?;
    let named = answer
        .url()
        .unwrap_or(url)
        .join(location)
        .ok()
        .filter(|_| answer.status().is_redirection())?;
    let what =
        format!("{} redirects to {}, another server.", host_and_port(url), host_and_port(&named));
    Some(Failure::new(
        Code::Refused,
        what,
        "Evermoor does not follow this. If it is the right server, change `url`.",
    ))
}

pub(crate) fn not_mcp(url: &Url) -> Failure {
    let what = format!("{} does not answer as an MCP server over HTTP.", host_and_port(url));
    Failure::new(Code::NotMcp, what, remedy(Code::NotMcp))
}

pub(crate) fn session_lost(url: &Url) -> Failure {
    let what = format!("{} ended the session.", host_and_port(url));
    Failure::new(Code::SessionLost, what, "Evermoor starts a new one automatically.")
}

pub(crate) fn silent(url: &Url) -> Failure {
    let what = format!("{} accepts connections but does not answer.", host_and_port(url));
    Failure::new(Code::Timeout, what, remedy(Code::Timeout))
}

pub(super) fn gone(url: &Url) -> Failure {
    let what = format!("Connection refused at {}.", host_and_port(url));
    Failure::new(Code::ConnectionRefused, what, remedy(Code::ConnectionRefused))
}

pub(super) fn cut_short() -> CallError {
    CallError::Unknown {
        why: Unknown::EofBeforeReply,
        detail: "the reply stream ended before the reply".into(),
        connection_broke: true,
    }
}

pub(super) fn malformed(body: &Bytes) -> CallError {
    CallError::Unknown {
        why: Unknown::MalformedReply,
        detail: format!("the reply is not JSON-RPC: {}", excerpt(body)),
        connection_broke: false,
    }
}

pub(super) fn too_large() -> CallError {
    CallError::Unknown {
        why: Unknown::ReplyTooLarge,
        detail: format!("the reply is larger than {} MiB", LARGEST_REPLY >> 20),
        connection_broke: false,
    }
}

pub(super) fn no_room(no_room: &NoRoom) -> CallError {
    CallError::Unknown {
        why: Unknown::ReplyTooLarge,
        detail: no_room.to_string(),
        connection_broke: false,
    }
}

pub(crate) fn ended(url: &Url) -> Failure {
    let what = format!("{} closed the stream.", host_and_port(url));
    Failure::new(Code::ConnectionLost, what, remedy(Code::ConnectionLost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_header_is_named_and_not_mistaken_for_a_missing_one() {
        let url = Url::parse("https://mcp.example.com/mcp").unwrap();
        let refused =
            |credential, status| refused_with(&url, credential, status, &Bytes::from_static(b"no"));
        let header = HeaderName::from_static("x-api-key");
        let sent = refused(Some(&header), StatusCode::UNAUTHORIZED);
        assert!(sent.what.contains("refused the configured header `x-api-key`"), "{sent}");
        assert!(sent.remedy.contains("Correct it in `headers`"), "{sent}");
        let none = refused(None, StatusCode::UNAUTHORIZED);
        assert!(none.what.contains("answered 401") && none.remedy.contains("Sign in"), "{none}");
        let other = refused(Some(&header), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(!other.what.contains("x-api-key"), "{other}");
    }

    #[test]
    fn a_lost_session_is_recognised_in_every_spelling() {
        let gone = |status, challenge, body: &'static str| {
            session_is_gone(status, challenge, &Bytes::from_static(body.as_bytes()))
        };
        assert!(gone(StatusCode::NOT_FOUND, false, ""));
        assert!(gone(StatusCode::GONE, false, ""));
        assert!(gone(StatusCode::BAD_REQUEST, false, "Bad Request: No valid Session ID"));
        assert!(gone(StatusCode::BAD_REQUEST, false, "Server not initialized"));
        assert!(gone(StatusCode::UNAUTHORIZED, false, "Unauthorized: Session not found"));
        assert!(!gone(StatusCode::BAD_REQUEST, false, "Missing parameter"));
        assert!(!gone(StatusCode::UNAUTHORIZED, true, "Your session has expired"));
        assert!(!gone(StatusCode::UNAUTHORIZED, false, "Missing token"));
        assert!(!gone(StatusCode::FORBIDDEN, false, "session"));
    }
}
