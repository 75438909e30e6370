//! Everything that the tray shows, at one moment. Whoever shows it asks nobody else.

use std::collections::BTreeSet;

use evermoor_client::Presence;
use evermoor_core::api::{DetectedEditor, Status, UpstreamState, UpstreamStatus};

use crate::updates::Update;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) presence: Presence,
    /// The editors on this machine.
    pub(crate) editors: Vec<DetectedEditor>,
    /// Whether the system starts Evermoor at login.
    pub(crate) login: bool,
    pub(crate) update: Update,
    /// Upstreams that a person just had restarted, and whose state does not tell yet.
    pub(crate) restarting: BTreeSet<String>,
    /// In milliseconds of the Unix epoch.
    pub(crate) now: u64,
}

impl Known {
    pub(crate) fn new(presence: Presence, update: Update) -> Self {
        let (editors, login, restarting, now) = (Vec::new(), false, BTreeSet::new(), 0);
        Self { presence, editors, login, update, restarting, now }
    }

    /// What the gateway says, while it serves.
    pub(crate) fn status(&self) -> Option<&Status> {
        match &self.presence {
            Presence::Serving { status } => Some(status),
            Presence::Starting | Presence::Lost { .. } => None,
        }
    }

    /// Whether an upstream is being restarted at this moment.
    pub(crate) fn is_restarting(&self, upstream: &UpstreamStatus) -> bool {
        let app = upstream.app.as_ref().and_then(|app| app.restart.as_ref());
        self.restarting.contains(&upstream.name) || app.is_some_and(|restart| restart.end.is_none())
    }

    /// The upstreams that a restart may bring back.
    pub(crate) fn broken(&self) -> Vec<&UpstreamStatus> {
        let upstreams = self.status().map_or(&[][..], |status| &status.upstreams);
        upstreams.iter().filter(|one| matches!(one.link, UpstreamState::Down { .. })).collect()
    }
}
