//! Per-client connections, for an upstream that editors must not share.
//!
//! # Theory of operation
//! The shared connection stays: it shows whether the upstream is up and what it offers. In addition,
//! each session (or each editor without sessions) gets its own supervisor, connection and
//! subscriptions with its first call. These supervisors follow the same desired state. A connection
//! that is not used for a while and has no subscriptions is closed; the next call opens a new one.
//! [`scope`] says whether a connection is shared or belongs to one client.

pub(crate) mod scope;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use evermoor_core::config::{self, Sharing};

use super::{LinkState, ScopeOwner, UpstreamContext, UpstreamHandle};

pub(super) struct PerClientConnections {
    context: UpstreamContext,
    stop: CancellationToken,
    by_owner: Mutex<HashMap<ScopeOwner, PerClientConnection>>,
}

struct PerClientConnection {
    handle: UpstreamHandle,
    stop: CancellationToken,
    used: Instant,
}

/// A connection that is not used for this long is closed.
const IDLE_LIMIT: Duration = Duration::from_secs(30 * 60);
const IDLE_CHECK: Duration = Duration::from_secs(60);

impl PerClientConnections {
    pub(super) fn new(context: UpstreamContext, stop: CancellationToken) -> Self {
        Self { context, stop, by_owner: Mutex::default() }
    }

    /// The handle of `owner`, started if there is none.
    pub(super) fn handle(
        self: &Arc<Self>,
        shared: &UpstreamHandle,
        owner: &ScopeOwner,
    ) -> UpstreamHandle {
        let mut by_owner = self.by_owner.lock();
        if by_owner.is_empty() {
            let closing = Arc::clone(self).close_idle();
            self.context.tasks.spawn(self.stop.clone().run_until_cancelled_owned(closing));
        }
        let connection = by_owner.entry(owner.clone()).or_insert_with(|| {
            let stop = self.stop.child_token();
            tracing::info!(upstream = %shared.name(), "opening a connection for one editor");
            let handle = shared.start_per_client(owner.clone(), &self.context, stop.clone());
            PerClientConnection { handle, stop, used: Instant::now() }
        });
        connection.used = Instant::now();
        connection.handle.config = Arc::clone(&shared.config);
        connection.handle.clone()
    }

    pub(super) fn release(&self, owner: &ScopeOwner) {
        if let Some(connection) = self.by_owner.lock().remove(owner) {
            connection.stop.cancel();
        }
    }

    /// Waits until a new configuration applies to all of them. Closes them if the upstream is shared
    /// now.
    pub(super) async fn configure(&self, config: &config::UpstreamConfig) {
        if config.sharing == Sharing::Shared {
            for (_, connection) in self.by_owner.lock().drain() {
                connection.stop.cancel();
            }
        }
        for handle in self.handles() {
            handle.until_in_force(config).await;
        }
    }

    pub(super) fn handles(&self) -> Vec<UpstreamHandle> {
        self.by_owner.lock().values().map(|connection| connection.handle.clone()).collect()
    }

    /// Closes idle connections until there are none left.
    async fn close_idle(self: Arc<Self>) {
        loop {
            sleep(IDLE_CHECK).await;
            let mut by_owner = self.by_owner.lock();
            by_owner.retain(|_, connection| {
                let keep =
                    connection.used.elapsed() < IDLE_LIMIT || connection.is_needed(&self.context);
                if !keep {
                    connection.stop.cancel();
                }
                keep
            });
            if by_owner.is_empty() {
                return;
            }
        }
    }
}

impl PerClientConnection {
    /// Whether it has a call in flight, a held call or a subscription.
    fn is_needed(&self, context: &UpstreamContext) -> bool {
        let busy = match &self.handle.state.borrow().link {
            LinkState::Ready(ready) => ready.in_flight() > 0,
            LinkState::Connecting | LinkState::Down { .. } | LinkState::Paused { .. } => {
                *self.handle.held.borrow() > 0
            }
        };
        busy || !context
            .upstream_subscriptions
            .in_scope(&self.handle.scope)
            .borrow()
            .resources
            .is_empty()
    }
}
