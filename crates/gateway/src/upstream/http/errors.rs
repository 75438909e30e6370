//! What an error of the HTTP client means: whether the call can have run, and what to tell a person.

use http::StatusCode;
use url::Url;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::outcome::Unknown;

use super::super::connection::{CallError, excerpt};
use super::reply::read_body;

/// Whether not one byte of the request can have reached the upstream.
pub(super) fn never_sent(error: &reqwest::Error) -> bool {
    error.is_connect()
        || error.is_builder()
        || hyper_cause(error).is_some_and(hyper::Error::is_canceled)
}

fn hyper_cause(error: &reqwest::Error) -> Option<&hyper::Error> {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if let Some(found) = error.downcast_ref::<hyper::Error>() {
            return Some(found);
        }
        source = error.source();
    }
    None
}

pub(super) fn lost(error: &reqwest::Error) -> CallError {
    let why = if error.is_timeout() { Unknown::Timeout } else { Unknown::ConnectionReset };
    CallError::Unknown { why, detail: innermost(error), connection_broke: true }
}

fn explain(error: &reqwest::Error) -> (Code, String) {
    let why = innermost(error);
    let lower = why.to_lowercase();
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
        "Nothing listens".to_owned()
    } else if code == Code::ConnectTimeout {
        "Nobody answers".to_owned()
    } else if code == Code::DnsFailure {
        "The name is not known".to_owned()
    } else {
        format!("The connection failed ({why})")
    };
    (code, what)
}

fn remedy(code: Code) -> &'static str {
    match code {
        Code::ConnectionRefused | Code::Timeout | Code::ConnectionLost => {
            "Start the server; Evermoor reconnects by itself."
        }
        Code::DnsFailure | Code::ConnectTimeout => {
            "Check the address and the network; Evermoor reconnects by itself."
        }
        Code::Tls => "Check the server's certificate.",
        Code::AuthRequired => "Give Evermoor valid credentials for it.",
        Code::Refused
        | Code::NotMcp
        | Code::Configuration
        | Code::TokenOff
        | Code::PortTaken
        | Code::NotFound
        | Code::Forbidden
        | Code::Internal => "Check its address in the configuration.",
    }
}

pub(super) fn place(url: &Url) -> String {
    let port = url.port_or_known_default().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host_str().unwrap_or_default())
}

fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

pub(super) fn failure(url: &Url, error: &reqwest::Error) -> Failure {
    let (code, what) = explain(error);
    let what = format!("{what} at {}.", place(url));
    Failure::new(code, what, remedy(code))
}

pub(super) async fn refused(url: &Url, answer: reqwest::Response) -> Failure {
    let status = answer.status();
    let body = read_body(answer).await.unwrap_or_default();
    let what = format!("{} answered {status}: {}", place(url), excerpt(&body));
    let code = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Code::AuthRequired,
        _ => Code::Refused,
    };
    Failure::new(code, what, remedy(code))
}

pub(super) fn not_mcp(url: &Url) -> Failure {
    let what = format!("What answers at {} does not speak MCP over HTTP.", place(url));
    Failure::new(Code::NotMcp, what, remedy(Code::NotMcp))
}

pub(super) fn forgotten(url: &Url) -> Failure {
    let what = format!("{} has forgotten the session.", place(url));
    Failure::new(Code::ConnectionLost, what, "Evermoor makes a new one.")
}

pub(super) fn silent(url: &Url) -> Failure {
    let what = format!("{} accepts connections but does not answer.", place(url));
    Failure::new(Code::Timeout, what, remedy(Code::Timeout))
}
