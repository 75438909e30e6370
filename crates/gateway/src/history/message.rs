//! What the history is told, and asked.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::oneshot;

use evermoor_core::failure::Failure;
use evermoor_core::history::incident::{Cause, How, Incident};
use evermoor_core::history::samples::Sample;

use super::Tally;

/// One thing to write down, or to look up. Times are milliseconds of the Unix epoch.
pub(crate) enum HistoryMessage {
    /// An outage began.
    IncidentOpened(IncidentOpened),
    /// An upstream is looked after from now on. If an earlier gateway left an outage of it open, it
    /// goes on, and its calls are counted here.
    UpstreamStarted {
        upstream: String,
        tally: Arc<Tally>,
    },
    /// Something was seen or done during the outage of an upstream, or just after it.
    Event {
        upstream: String,
        at: u64,
        what: String,
    },
    /// Why the outage happened was found out.
    Explained {
        upstream: String,
        at: u64,
        cause: Cause,
    },
    IncidentEnded {
        upstream: String,
        how: How,
        at: u64,
    },
    /// These are the upstreams that there are; the outages of others are over.
    UpstreamsChanged {
        upstreams: Vec<String>,
        at: u64,
    },
    Sampled {
        app: String,
        sample: Sample,
    },
    QueryIncidents(Asked, oneshot::Sender<Result<Vec<Incident>, Failure>>),
    QuerySamples {
        app: String,
        since: u64,
        answer: oneshot::Sender<Result<Vec<Sample>, Failure>>,
    },
}

impl HistoryMessage {
    /// Whether it is something to write down.
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

/// Which outages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Only of this upstream.
    pub upstream: Option<String>,
    /// Only those that lasted at this moment or began later.
    pub since: Option<u64>,
}

pub(crate) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
