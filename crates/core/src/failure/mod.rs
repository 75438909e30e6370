//! Failures with a code for programs and a remedy for users.
//!
//! A [`Failure`] says what happened and what to do next. Programs decide by its [`Code`], never by
//! its text. The text is never empty. [`outcome`] builds the answer to a call that did not get one
//! from its upstream.
//!
//! This module uses only `protocol`. `api`, `history`, `policy`, `preset`, `protocol` and `security`
//! use it.

pub mod outcome;

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// What happened and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
#[error("{what} {remedy}")]
pub struct Failure {
    pub code: Code,
    /// One sentence: what happened.
    pub what: String,
    /// One sentence: what to do next.
    pub remedy: String,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum Code {
    /// Connection refused.
    ConnectionRefused,
    /// The host name does not resolve.
    DnsFailure,
    /// The connection attempt timed out.
    ConnectTimeout,
    /// The certificate was rejected, or the TLS handshake failed.
    Tls,
    /// The connection broke.
    ConnectionLost,
    /// The server no longer knows our session.
    SessionLost,
    /// The server is reachable but does not respond.
    Timeout,
    /// The server responds, but refuses to serve.
    Refused,
    /// The server requires credentials.
    AuthRequired,
    /// The keychain that holds its secret is locked.
    KeychainLocked,
    /// The keychain does not give out the secret unless the user allows it.
    KeychainRefused,
    /// There is no keychain, or it does not respond.
    KeychainMissing,
    /// A secret that the configuration refers to does not exist.
    SecretMissing,
    /// The server does not speak MCP.
    NotMcp,
    /// Its program repeatedly exits right after it starts.
    CrashLoop,
    /// The app is not installed.
    NotInstalled,
    /// The app is installed but not running.
    NotRunning,
    /// The app is running but not ready yet.
    Starting,
    /// The app crashed, or the OS killed it.
    Crashed,
    /// The user quit the app.
    Quit,
    /// The user paused the upstream.
    Paused,
    /// The configuration is invalid.
    Configuration,
    /// The gateway's token check is off.
    TokenOff,
    /// Another process uses the port.
    PortTaken,
    /// A control request named something that does not exist.
    NotFound,
    /// A control request was not allowed.
    Forbidden,
    /// An error in Evermoor itself.
    Internal,
}

impl Failure {
    pub fn new(code: Code, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code, what: what.into(), remedy: remedy.into() }
    }
}

impl Code {
    /// A short label for a menu row or a table row.
    pub fn word(self) -> &'static str {
        match self {
            Self::ConnectionRefused | Self::NotRunning => "Not running",
            Self::NotInstalled => "Not installed",
            Self::Starting => "Starting",
            Self::Crashed => "Crashed",
            Self::Quit => "Quit",
            Self::Paused => "Paused",
            Self::DnsFailure | Self::ConnectTimeout => "Not reachable",
            Self::Tls => "Not trusted",
            Self::ConnectionLost | Self::SessionLost => "Connection lost",
            Self::Timeout => "Not responding",
            Self::Refused | Self::NotMcp => "Not serving MCP",
            Self::AuthRequired => "Needs sign-in",
            Self::KeychainLocked => "Keychain locked",
            Self::KeychainRefused => "Needs your permission",
            Self::KeychainMissing => "No keychain",
            Self::SecretMissing => "Secret missing",
            Self::CrashLoop => "Keeps crashing",
            Self::Configuration => "Misconfigured",
            Self::TokenOff => "Open",
            Self::PortTaken => "Port taken",
            Self::NotFound => "Not found",
            Self::Forbidden => "Not allowed",
            Self::Internal => "Internal error",
        }
    }

    /// The predicate of a sentence that starts with the upstream's title.
    pub fn predicate(self) -> &'static str {
        match self {
            Self::ConnectionRefused | Self::NotRunning => "is not running",
            Self::NotInstalled => "is not installed",
            Self::Starting => "is starting",
            Self::Crashed => "crashed",
            Self::Quit => "was quit",
            Self::Paused => "is paused",
            Self::DnsFailure | Self::ConnectTimeout => "cannot be reached",
            Self::Tls => "is not trusted: its certificate was rejected",
            Self::ConnectionLost | Self::SessionLost => "closed the connection",
            Self::Timeout => "is not responding",
            Self::Refused | Self::NotMcp => "does not serve MCP at its address",
            Self::AuthRequired => "wants you to sign in",
            Self::KeychainLocked => "needs a secret, but the keychain is locked",
            Self::KeychainRefused => "needs a secret, but the keychain wants your permission",
            Self::KeychainMissing => "needs a secret, but no keychain responds",
            Self::SecretMissing => "needs a secret that is not set",
            Self::CrashLoop => "keeps crashing",
            Self::Configuration => "is misconfigured",
            Self::TokenOff
            | Self::PortTaken
            | Self::NotFound
            | Self::Forbidden
            | Self::Internal => "is down",
        }
    }
}
