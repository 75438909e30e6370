//! What went wrong, in a form that a program can choose by and a person can act on.
//!
//! A [`Failure`] says what happened and what to do next. Programs look at its [`Code`]; nobody
//! looks at its text. The text is never empty, because an empty error is how tools die silently.

pub mod outcome;

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// What happened, why as far as known, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
#[error("{what} {remedy}")]
pub struct Failure {
    pub code: Code,
    /// One sentence: what happened, to what.
    pub what: String,
    /// One sentence: what to do next.
    pub remedy: String,
}

/// The kinds of failure a reader may want to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum Code {
    /// Nothing listens at the address.
    ConnectionRefused,
    /// The name of the host is not known.
    DnsFailure,
    /// Nobody answered the attempt to connect.
    ConnectTimeout,
    /// The certificate was refused or TLS could not be agreed on.
    Tls,
    /// The connection broke while it was in use.
    ConnectionLost,
    /// It has forgotten the session that it gave us.
    SessionLost,
    /// The other side is there and does not answer.
    Timeout,
    /// It answers, but refuses to serve.
    Refused,
    /// It wants credentials that it was not given.
    AuthRequired,
    /// The keychain with its secret is locked.
    KeychainLocked,
    /// There is no keychain, or it does not answer.
    KeychainMissing,
    /// Its secret is not where the configuration says.
    SecretMissing,
    /// What it says is not MCP.
    NotMcp,
    /// Its program ends as soon as it is started, again and again.
    CrashLoop,
    /// The application is not on this machine.
    NotInstalled,
    /// The application is installed, and no process of it runs.
    NotRunning,
    /// The application runs, and is not ready to answer.
    Starting,
    /// The application crashed, or its system ended it.
    Crashed,
    /// A person quit the application.
    Quit,
    /// A person paused the upstream.
    Paused,
    /// The configuration is wrong.
    Configuration,
    /// The gateway's token check is off.
    TokenOff,
    /// The port is taken by another process.
    PortTaken,
    /// A control request named something that is not there.
    NotFound,
    /// A control request was not allowed.
    Forbidden,
    /// Something in Evermoor itself broke.
    Internal,
}

impl Failure {
    pub fn new(code: Code, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code, what: what.into(), remedy: remedy.into() }
    }
}

impl Code {
    /// The state in two words, for a row.
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
            Self::KeychainMissing => "No keychain",
            Self::SecretMissing => "Secret missing",
            Self::CrashLoop => "Keeps crashing",
            Self::Configuration => "Set up wrongly",
            Self::TokenOff => "Open",
            Self::PortTaken => "Port taken",
            Self::NotFound => "Not found",
            Self::Forbidden => "Not allowed",
            Self::Internal => "Broken",
        }
    }

    /// What follows the name of an upstream in a sentence about it.
    pub fn predicate(self) -> &'static str {
        match self {
            Self::ConnectionRefused | Self::NotRunning => "is not running",
            Self::NotInstalled => "is not installed",
            Self::Starting => "is starting",
            Self::Crashed => "crashed",
            Self::Quit => "was quit",
            Self::Paused => "is paused",
            Self::DnsFailure | Self::ConnectTimeout => "cannot be reached",
            Self::Tls => "cannot be trusted: its certificate was refused",
            Self::ConnectionLost | Self::SessionLost => "closed the connection",
            Self::Timeout => "is not responding",
            Self::Refused | Self::NotMcp => "does not serve MCP at its address",
            Self::AuthRequired => "needs you to sign in",
            Self::KeychainLocked => "needs a secret, and the keychain is locked",
            Self::KeychainMissing => "needs a secret, and there is no keychain that answers",
            Self::SecretMissing => "needs a secret that is not set",
            Self::CrashLoop => "keeps crashing",
            Self::Configuration => "is set up wrongly",
            Self::TokenOff
            | Self::PortTaken
            | Self::NotFound
            | Self::Forbidden
            | Self::Internal => "is down",
        }
    }
}
