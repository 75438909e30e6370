//! One outage of an upstream, from its first sign to its end, as it is kept and shown.
//!
//! It has times, names, causes and figures. It never has an argument or a result of a call. Times
//! are milliseconds of the Unix epoch.

pub mod report;
pub mod text;

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

use crate::failure::Failure;

/// One outage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Incident {
    /// Grows with time.
    #[cfg_attr(test, ts(type = "number"))]
    pub id: u64,
    /// The upstream's name in the configuration.
    pub upstream: String,
    /// What a person called it then.
    pub title: String,
    /// When the first sign was seen.
    #[cfg_attr(test, ts(type = "number"))]
    pub began: u64,
    /// The first sign.
    pub sign: Failure,
    /// Why it happened, if that was found out.
    pub cause: Option<Cause>,
    /// The memory that its process last had, in bytes.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub memory: Option<u64>,
    /// How long its process had run, in milliseconds.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub uptime: Option<u64>,
    pub calls: Calls,
    /// What was seen and done, in the order of time.
    pub events: Vec<Event>,
    /// How it ended; nothing while it lasts.
    pub end: Option<End>,
    /// How much of it no gateway watched, because none ran, in milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub unwatched: u64,
}

/// Why an outage happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Cause {
    /// One sentence.
    pub what: String,
    pub evidence: Option<Evidence>,
}

/// What proves a cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Evidence {
    /// Where it was found, such as the name of a crash report.
    pub source: String,
    /// The part that says most: the top of a crash report.
    pub excerpt: String,
}

/// What became of the calls that an outage touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Calls {
    /// They waited for the upstream.
    #[cfg_attr(test, ts(type = "number"))]
    pub held: u64,
    /// They waited, and were answered by the upstream.
    #[cfg_attr(test, ts(type = "number"))]
    pub answered: u64,
    /// Nobody knows whether they ran.
    #[cfg_attr(test, ts(type = "number"))]
    pub unknown: u64,
    /// They were given back without having been sent.
    #[cfg_attr(test, ts(type = "number"))]
    pub not_sent: u64,
}

/// Something that was seen or done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Event {
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// One sentence.
    pub what: String,
}

/// How an outage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct End {
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    pub how: How,
}

/// The ways in which an outage ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum How {
    /// There is a new connection.
    Reconnected,
    /// The connection that had gone silent answered again.
    Answered,
    /// The upstream was taken out of the configuration.
    Removed,
    /// The configuration leads elsewhere now.
    Changed,
    /// A person paused it.
    Paused,
}

/// What `/api/incidents` answers, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Incidents {
    pub incidents: Vec<Incident>,
}

impl Incident {
    /// How long it took, or has taken so far.
    pub fn lasted(&self, now: u64) -> u64 {
        self.end.map_or(now, |end| end.at).saturating_sub(self.began)
    }

    /// Why it happened, as well as that is known.
    pub fn why(&self) -> &str {
        self.cause.as_ref().map_or(&self.sign.what, |cause| &cause.what)
    }
}

impl How {
    /// A word for programs, which stays the same.
    pub fn code(self) -> &'static str {
        match self {
            Self::Reconnected => "reconnected",
            Self::Answered => "answered",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Paused => "paused",
        }
    }

    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|how| how.code() == code)
    }

    const ALL: [Self; 5] =
        [Self::Reconnected, Self::Answered, Self::Removed, Self::Changed, Self::Paused];

    /// One sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Reconnected => "It was connected again.",
            Self::Answered => "It answered again.",
            Self::Removed => "It was taken out of the configuration.",
            Self::Changed => "The configuration was changed to lead elsewhere.",
            Self::Paused => "A person paused it.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_a_code_that_is_read_back_and_is_the_one_on_the_wire() {
        for how in How::ALL {
            assert_eq!(How::parse(how.code()), Some(how));
            assert_eq!(serde_json::to_value(how).unwrap(), how.code());
        }
        assert_eq!(How::parse("else"), None);
    }
}
