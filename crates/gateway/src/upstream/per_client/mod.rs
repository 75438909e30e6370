//! Per-client connections, for an upstream that editors must not share.
//!
//! # Theory of operation
//! The shared connection stays: it shows whether the upstream is up and what it offers. In addition,
//! each session (or each editor without sessions) gets its own supervisor, connection and
//! subscriptions with its first call. These supervisors follow the same desired state. A connection
//! that is not used for a while and has no subscriptions is closed; the next call opens a new one. Each can
//! be a process, so their number is limited.
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
/// How many clients can have a connection of their own to one upstream.
const MAX_CONNECTIONS: usize = 64;

/// Too many clients have a connection of their own to an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{MAX_CONNECTIONS} other clients already have a connection of their own to it")]
pub(crate) struct TooManyClients;

impl PerClientConnections {
    pub(super) fn new(context: UpstreamContext, stop: CancellationToken) -> Self {
        Self { context, stop, by_owner: Mutex::default() }
    }

    /// The handle of `owner`, started if there is none and there are not too many.
    pub(super) fn handle(
        self: &Arc<Self>,
        shared: &UpstreamHandle,
        owner: &ScopeOwner,
    ) -> Result<UpstreamHandle, TooManyClients> {
        let mut by_owner = self.by_owner.lock();
        if by_owner.len() >= MAX_CONNECTIONS && !by_owner.contains_key(owner) {
            return Err(TooManyClients);
        }
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
        Ok(connection.handle.clone())
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

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::config::Config;

    #[tokio::test]
    async fn a_limited_number_of_clients_have_a_connection_of_their_own() {
        let entry = "[upstreams.a]\nurl = \"http://127.0.0.1:1/mcp\"\nsharing = \"per-client\"\n";
        let upstream = UpstreamHandle::remembered(&Config::parse(entry).unwrap()).remove(0);
        let owner = |number: usize| ScopeOwner::Session(number as u64);
        for number in 0..MAX_CONNECTIONS {
            assert!(upstream.used_by(&owner(number)).is_ok());
        }
        assert_eq!(upstream.used_by(&owner(MAX_CONNECTIONS)).err(), Some(TooManyClients));
        assert!(upstream.used_by(&owner(0)).is_ok(), "it has one already");
        upstream.release(&owner(0));
        assert!(upstream.used_by(&owner(MAX_CONNECTIONS)).is_ok());
    }
}
