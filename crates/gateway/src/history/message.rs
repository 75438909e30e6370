//! What the history is told, and asked.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::oneshot;

use evermoor_core::failure::Failure;
use evermoor_core::history::incident::{Cause, How, Incident};
use evermoor_core::history::samples::Sample;

use super::Tally;

/// One thing to write down, or to look up. Times are milliseconds of the Unix epoch.
pub(crate) enum Note {
    /// An outage began.
    Opened(Opened),
    /// An upstream is looked after from now on. If an earlier gateway left an outage of it open, it
    /// goes on, and its calls are counted here.
    Began {
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
    Ended {
        upstream: String,
        how: How,
        at: u64,
    },
    /// These are the upstreams that there are; the outages of others are over.
    Present {
        upstreams: Vec<String>,
        at: u64,
    },
    Sampled {
        app: String,
        sample: Sample,
    },
    Asked(Asked, oneshot::Sender<Result<Vec<Incident>, Failure>>),
    AskedSamples {
        app: String,
        since: u64,
        answer: oneshot::Sender<Result<Vec<Sample>, Failure>>,
    },
}

impl Note {
    /// Whether it is something to write down.
    pub(super) fn is_written(&self) -> bool {
        match self {
            Self::Opened(_)
            | Self::Began { .. }
            | Self::Event { .. }
            | Self::Explained { .. }
            | Self::Ended { .. }
            | Self::Present { .. }
            | Self::Sampled { .. } => true,
            Self::Asked(..) | Self::AskedSamples { .. } => false,
        }
    }
}

pub(crate) struct Opened {
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
