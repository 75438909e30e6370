//! The messages to the task that writes the history.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::oneshot;

use evermoor_core::failure::Failure;
use evermoor_core::history::incident::{Incident, IncidentCause, Resolution};
use evermoor_core::history::samples::ResourceSample;

use super::Tally;

/// Something to write or to look up. Times are Unix milliseconds.
pub(crate) enum HistoryMessage {
    IncidentOpened(IncidentOpened),
    /// A supervisor started. If an earlier gateway left an incident of its upstream open, that
    /// continues, and `tally` counts its calls.
    UpstreamStarted {
        upstream: String,
        tally: Arc<Tally>,
    },
    /// Something happened during the incident of an upstream, or just after it.
    Event {
        upstream: String,
        at: u64,
        what: String,
    },
    /// The cause of the incident was found.
    Explained {
        upstream: String,
        at: u64,
        cause: IncidentCause,
    },
    IncidentEnded {
        upstream: String,
        how: Resolution,
        at: u64,
    },
    /// The list of upstreams; the incidents of all others end.
    UpstreamsChanged {
        upstreams: Vec<String>,
        at: u64,
    },
    Sampled {
        app: String,
        sample: ResourceSample,
    },
    QueryIncidents(IncidentQuery, oneshot::Sender<Result<Vec<Incident>, Failure>>),
    QuerySamples {
        app: String,
        since: u64,
        answer: oneshot::Sender<Result<Vec<ResourceSample>, Failure>>,
    },
}

impl HistoryMessage {
    /// Whether it changes the file, as opposed to a query.
    pub(super) fn is_written(&self) -> bool {
        match self {
            Self::IncidentOpened(_)
            | Self::UpstreamStarted { .. }
            | Self::Event { .. }
            | Self::Explained { .. }
            | Self::IncidentEnded { .. }
            | Self::UpstreamsChanged { .. }
            | Self::Sampled { .. } => true,
            Self::QueryIncidents(..) | Self::QuerySamples { .. } => false,
        }
    }
}

pub(crate) struct IncidentOpened {
    pub(crate) upstream: String,
    pub(crate) title: String,
    pub(crate) at: u64,
    pub(crate) sign: Failure,
    pub(crate) tally: Arc<Tally>,
}

/// Which incidents to return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IncidentQuery {
    /// Only of this upstream.
    pub upstream: Option<String>,
    /// Only those that ended at or after this time, or have not ended.
    pub since: Option<u64>,
}

pub(crate) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
