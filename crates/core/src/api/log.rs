//! The gateway's log, as people read it.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// One line of the log. It holds no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct LogLine {
    /// In milliseconds of the Unix epoch.
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    pub level: LogLevel,
    /// The upstream that it is about, if it is about one.
    #[serde(default)]
    pub upstream: Option<String>,
    pub text: String,
}

/// How much a line matters, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

/// What `/api/logs` answers: the newest line last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct LogLines {
    pub lines: Vec<LogLine>,
}

impl LogLevel {
    /// In one word, as wide as the others when it is padded to five letters.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}
