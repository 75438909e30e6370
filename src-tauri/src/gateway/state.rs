//! Everything that the tray shows at one moment. Menu, icon and tooltip are derived from it alone.

use std::collections::BTreeSet;

use evermoor_client::Presence;
use evermoor_core::api::{DetectedEditor, Status, UpstreamState, UpstreamStatus};

use crate::updates::Update;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TrayState {
    pub(crate) presence: Presence,
    /// The editors on this machine.
    pub(crate) editors: Vec<DetectedEditor>,
    /// Whether the system starts Evermoor at login.
    pub(crate) login: bool,
    pub(crate) update: Update,
    /// The application runs from a place that vanishes, and can move to Applications.
    pub(crate) must_move: bool,
    /// Upstreams that the user just restarted and whose status does not show it yet.
    pub(crate) restarting: BTreeSet<String>,
    /// Unix time in milliseconds.
    pub(crate) now: u64,
}

impl TrayState {
    pub(crate) fn new(presence: Presence, update: Update) -> Self {
        let (editors, login, restarting, now) = (Vec::new(), false, BTreeSet::new(), 0);
        Self { presence, editors, login, update, must_move: false, restarting, now }
    }

    /// The gateway's status, while it is running.
    pub(crate) fn status(&self) -> Option<&Status> {
        match &self.presence {
            Presence::Serving { status } => Some(status),
            Presence::Starting | Presence::Lost { .. } | Presence::Stopped => None,
        }
    }

    /// Whether an upstream is being restarted.
    pub(crate) fn is_restarting(&self, upstream: &UpstreamStatus) -> bool {
        let app = upstream.app.as_ref().and_then(|app| app.restart.as_ref());
        self.restarting.contains(&upstream.name) || app.is_some_and(|restart| restart.end.is_none())
    }

    /// The upstreams that are down.
    pub(crate) fn down(&self) -> Vec<&UpstreamStatus> {
        let upstreams = self.status().map_or(&[][..], |status| &status.upstreams);
        upstreams.iter().filter(|one| matches!(one.link, UpstreamState::Down { .. })).collect()
    }
}
