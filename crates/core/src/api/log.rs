//! Lines of the gateway's log.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// One log line, without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct LogLine {
    /// Unix time in milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    pub level: LogLevel,
    /// The upstream it concerns, if any.
    #[serde(default)]
    pub upstream: Option<String>,
    pub text: String,
}

/// The severity, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

/// The answer of `/api/logs`, newest line last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct LogLines {
    pub lines: Vec<LogLine>,
}

impl LogLevel {
    /// The name in lower case, at most five letters.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}
