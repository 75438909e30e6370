//! An incident: one outage of an upstream, from the first failure to recovery.
//!
//! It has times, names, causes and counts, but never an argument or a result of a call. Times are
//! Unix time in milliseconds.
//!
//! - [`report`]: a Markdown report about several incidents
//! - [`text`]: times, durations and amounts as users read them

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
    /// Increases with each incident.
    #[cfg_attr(test, ts(type = "number"))]
    pub id: u64,
    /// The upstream's name in the configuration.
    pub upstream: String,
    /// Its display name at the time.
    pub title: String,
    /// When the first failure was seen.
    #[cfg_attr(test, ts(type = "number"))]
    pub began: u64,
    /// The first failure.
    pub sign: Failure,
    /// Why it happened, if known.
    pub cause: Option<IncidentCause>,
    /// The memory of its process before the outage, in bytes.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub memory: Option<u64>,
    /// The uptime of its process before the outage, in milliseconds.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub uptime: Option<u64>,
    pub calls: AffectedCalls,
    /// What was observed and done, oldest first.
    pub events: Vec<TimedEvent>,
    /// How it ended; `None` while it is ongoing.
    pub end: Option<IncidentEnd>,
    /// How long no gateway was running during it, in milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub unwatched: u64,
}

/// Why an outage happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct IncidentCause {
    /// One sentence.
    pub what: String,
    pub evidence: Option<Evidence>,
}

/// The evidence for a cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Evidence {
    /// Its source, such as the name of a crash report.
    pub source: String,
    /// The relevant part, such as the top of a crash report.
    pub excerpt: String,
}

/// The calls affected by an outage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct AffectedCalls {
    /// Held until the upstream came back.
    #[cfg_attr(test, ts(type = "number"))]
    pub held: u64,
    /// Held, and then answered by the upstream.
    #[cfg_attr(test, ts(type = "number"))]
    pub answered: u64,
    /// Sent, but it is unknown whether they ran.
    #[cfg_attr(test, ts(type = "number"))]
    pub unknown: u64,
    /// Returned without being sent.
    #[cfg_attr(test, ts(type = "number"))]
    pub not_sent: u64,
}

/// Something that was observed or done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct TimedEvent {
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// One sentence.
    pub what: String,
}

/// How an outage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct IncidentEnd {
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    pub how: Resolution,
}

/// The ways an outage can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum Resolution {
    /// Evermoor reconnected.
    Reconnected,
    /// The silent connection responded again.
    Answered,
    /// The upstream was removed from the configuration.
    Removed,
    /// The configuration now points to another target.
    Changed,
    /// The user paused it.
    Paused,
}

/// The answer of `/api/incidents`, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Incidents {
    pub incidents: Vec<Incident>,
}

impl Incident {
    /// Its duration, up to `now` if it is ongoing.
    pub fn lasted(&self, now: u64) -> u64 {
        self.end.map_or(now, |end| end.at).saturating_sub(self.began)
    }

    /// The cause, or the first failure if the cause is unknown.
    pub fn why(&self) -> &str {
        self.cause.as_ref().map_or(&self.sign.what, |cause| &cause.what)
    }
}

impl Resolution {
    /// A stable code for programs.
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
            Self::Reconnected => "It reconnected.",
            Self::Answered => "It responded again.",
            Self::Removed => "It was removed from the configuration.",
            Self::Changed => "The configuration now points elsewhere.",
            Self::Paused => "The user paused it.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_a_code_that_round_trips_and_matches_the_wire() {
        for how in Resolution::ALL {
            assert_eq!(Resolution::parse(how.code()), Some(how));
            assert_eq!(serde_json::to_value(how).unwrap(), how.code());
        }
        assert_eq!(Resolution::parse("else"), None);
    }
}
