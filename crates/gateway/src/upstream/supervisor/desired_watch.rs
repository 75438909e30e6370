//! The desired state of an upstream, as its supervisor follows it.

use std::sync::Arc;

use tokio::sync::watch;

use evermoor_core::config;

use crate::upstream::KnownCatalog;
use crate::upstream::desired_state::{DesiredState, Mode};

pub(in crate::upstream) struct DesiredWatch {
    desired: watch::Receiver<DesiredState>,
    /// The configuration in force. Only its transport can lag behind the desired one.
    config: Arc<config::UpstreamConfig>,
    /// The mode in force.
    mode: Mode,
    /// How many new connections were requested before the current one.
    connections: u64,
}

/// Why a state of the supervisor ends early.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    /// Another mode or another transport is wanted.
    StartOver,
    /// The user wants a new connection.
    Reconnect,
}

impl DesiredWatch {
    /// `config` is the configuration in force, for which the connector was made.
    pub(in crate::upstream) fn new(
        desired: watch::Receiver<DesiredState>,
        config: Arc<config::UpstreamConfig>,
    ) -> Self {
        let (mode, connections) = {
            let now = desired.borrow();
            (now.mode(), now.restarts.connections)
        };
        Self { desired, config, mode, connections }
    }

    pub(super) fn config(&self) -> &Arc<config::UpstreamConfig> {
        &self.config
    }

    /// A receiver of its own.
    pub(super) fn subscribe(&self) -> watch::Receiver<DesiredState> {
        self.desired.clone()
    }

    /// Puts the desired state in force. Returns the mode, and the catalog that is known for the
    /// new transport if the transport changed.
    pub(super) fn adopt(&mut self) -> (Mode, Option<Option<Arc<KnownCatalog>>>) {
        let now = self.desired.borrow_and_update().clone();
        let moved = now.config.transport != self.config.transport;
        (self.config, self.mode) = (Arc::clone(&now.config), now.mode());
        (self.mode, moved.then_some(now.known))
    }

    /// Waits until something else is wanted than is in force. Every state of the supervisor waits
    /// for this beside its own events. Cancel-safe.
    pub(super) async fn interrupted(&mut self) -> Interruption {
        loop {
            {
                let now = self.desired.borrow_and_update();
                if now.mode() != self.mode || now.config.transport != self.config.transport {
                    return Interruption::StartOver;
                }
                self.config = Arc::clone(&now.config);
                if now.restarts.connections != self.connections {
                    self.connections = now.restarts.connections;
                    return Interruption::Reconnect;
                }
            }
            if self.desired.changed().await.is_err() {
                // Nobody can want anything else any more.
                std::future::pending().await
            }
        }
    }
}
