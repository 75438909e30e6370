//! The desired state of an upstream: its configuration, and whether it runs.
//!
//! # Theory of operation
//! `config::upstream_set` writes the configuration and the pause, `apps` that the connection must stand
//! aside while an application restarts, and the control API the restarts that the user requests. The supervisors of the upstream (the shared one
//! and those of single editors) follow the one `watch`. It holds states, not requests: a supervisor
//! that looks late sees the current state, and nothing waits in a queue.

use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::watch;

use evermoor_core::config;

use super::KnownCatalog;

/// The desired state of an upstream.
#[derive(Clone)]
pub(crate) struct DesiredState {
    pub(crate) config: Arc<config::UpstreamConfig>,
    /// The cached catalog for this configuration, used after a change of the transport until the
    /// upstream connects.
    pub(crate) known: Option<Arc<KnownCatalog>>,
    /// The user paused it.
    paused: bool,
    /// The application behind it is being restarted, and nothing may be sent to it.
    stand_aside: bool,
    pub(crate) restarts: RestartRequests,
}

/// Whether an upstream is to be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Run,
    Pause,
    StandAside,
}

/// The restarts that the user requested. This is the only record of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RestartRequests {
    /// How many new connections were requested.
    pub(crate) connections: u64,
    /// The number of the restart of the application that was requested last.
    pub(crate) app: u64,
    /// When the last one was requested.
    pub(crate) at: Option<SystemTime>,
}

/// The writing side of a [`DesiredState`].
#[derive(Clone)]
pub(crate) struct DesiredStateSender(Arc<watch::Sender<DesiredState>>);

impl DesiredState {
    pub(crate) fn mode(&self) -> Mode {
        match (self.paused, self.stand_aside) {
            (true, _) => Mode::Pause,
            (false, true) => Mode::StandAside,
            (false, false) => Mode::Run,
        }
    }
}

impl DesiredStateSender {
    pub(crate) fn new(config: &Arc<config::UpstreamConfig>, paused: bool) -> Self {
        let (config, restarts) = (Arc::clone(config), RestartRequests::default());
        let state = DesiredState { config, known: None, paused, stand_aside: false, restarts };
        Self(Arc::new(watch::Sender::new(state)))
    }

    pub(crate) fn mode(&self) -> Mode {
        self.0.borrow().mode()
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<DesiredState> {
        self.0.subscribe()
    }

    pub(crate) fn restarts(&self) -> RestartRequests {
        self.0.borrow().restarts
    }

    pub(crate) fn configure(
        &self,
        config: &Arc<config::UpstreamConfig>,
        known: Option<Arc<KnownCatalog>>,
    ) {
        self.0.send_modify(|state| (state.config, state.known) = (Arc::clone(config), known));
    }

    /// Pauses or resumes the upstream. A pause withdraws a restart that has not begun.
    pub(crate) fn set_paused(&self, paused: bool) {
        self.0.send_if_modified(|state| {
            if paused {
                state.restarts.app = 0;
            }
            std::mem::replace(&mut state.paused, paused) != paused
        });
    }

    pub(crate) fn set_stand_aside(&self, stand_aside: bool) {
        self.0.send_if_modified(|state| {
            std::mem::replace(&mut state.stand_aside, stand_aside) != stand_aside
        });
    }

    /// Requests a new connection.
    pub(crate) fn request_connection(&self, at: SystemTime) {
        self.0.send_modify(|state| {
            state.restarts.connections += 1;
            state.restarts.at = Some(at);
        });
    }

    /// Requests the restart of the application with this number.
    pub(crate) fn request_app_restart(&self, number: u64, at: SystemTime) {
        self.0.send_modify(|state| {
            (state.restarts.app, state.restarts.at) = (number, Some(at));
        });
    }
}
