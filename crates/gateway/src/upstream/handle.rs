//! The handle that everyone except the supervisor holds on an upstream.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::config::{self, Sharing};
use evermoor_core::failure::Failure;
use evermoor_core::protocol::envelope::Request;
use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;

use super::delivery::in_flight::InFlightCalls;
use super::delivery::retry_budget::RetryBudget;
use super::delivery::{self, list_fallback};
use super::per_client::PerClientConnections;
use super::supervisor::state_channel::PublishedState;
use super::supervisor::{PauseWatch, Supervisor};
use super::transport::connector::{Connect, Connector};
use super::{
    COMMAND_LIMIT, CallReply, Caller, Command, Configure, ConnectionScope, KnownCatalog, LinkState,
    ScopeOwner, UpstreamContext, UpstreamSnapshot,
};
use crate::history::CurrentTally;
use crate::system::clock::ClockAndRandom;

/// An upstream, as everyone except its supervisor sees it.
#[derive(Clone)]
pub struct UpstreamHandle {
    pub config: Arc<config::UpstreamConfig>,
    pub(super) scope: ConnectionScope,
    /// The connections of single editors; `None` if this handle is one of them.
    per_client: Option<Arc<PerClientConnections>>,
    pub(super) state: watch::Receiver<UpstreamSnapshot>,
    pub(super) commands: mpsc::Sender<Command>,
    /// How many calls wait for a connection.
    pub(super) held: Arc<watch::Sender<usize>>,
    /// How many bytes those calls occupy.
    pub(super) held_bytes: Arc<AtomicUsize>,
    pub(super) budget: Arc<Mutex<RetryBudget>>,
    pub(super) settings: watch::Receiver<config::GatewayConfig>,
    /// Counts the calls that an outage affects.
    pub(super) current_tally: CurrentTally,
    pub(super) clock: ClockAndRandom,
}

impl UpstreamHandle {
    /// Starts the supervisor of one upstream, with the catalog `known` from an earlier run. It runs
    /// until `stop`.
    pub fn start(
        config: config::UpstreamConfig,
        known: Option<Arc<KnownCatalog>>,
        context: &UpstreamContext,
        stop: CancellationToken,
    ) -> Self {
        let per_client = Some(Arc::new(PerClientConnections::new(context.clone(), stop.clone())));
        let scope = ConnectionScope::shared(&config.name);
        Self { per_client, ..Self::start_in_scope(scope, config, known, context, stop) }
    }

    pub(super) fn start_in_scope(
        scope: ConnectionScope,
        config: config::UpstreamConfig,
        known: Option<Arc<KnownCatalog>>,
        context: &UpstreamContext,
        stop: CancellationToken,
    ) -> Self {
        let transport = known.as_ref().and_then(|known| known.transport);
        let app = context.apps.of(&config.name);
        let (secrets, tasks) = (context.secrets.clone(), context.tasks.clone());
        let connector = Connector::new(&config, app, secrets, transport, tasks, stop.clone());
        Self::spawn(scope, config, connector, known, context, stop)
    }

    #[cfg(test)]
    pub(super) fn start_with(
        config: config::UpstreamConfig,
        connector: impl Connect,
        known: Option<Arc<KnownCatalog>>,
        context: &UpstreamContext,
        stop: CancellationToken,
    ) -> Self {
        Self::spawn(ConnectionScope::shared(&config.name), config, connector, known, context, stop)
    }

    fn spawn(
        scope: ConnectionScope,
        config: config::UpstreamConfig,
        connector: impl Connect,
        known: Option<Arc<KnownCatalog>>,
        context: &UpstreamContext,
        stop: CancellationToken,
    ) -> Self {
        let clock = context.clock.clone();
        let pause = PauseWatch { paused: context.paused.clone(), upstream: config.name.clone() };
        let link = match pause.is_paused() {
            true => LinkState::Paused { since: clock.now() },
            false => LinkState::Connecting,
        };
        let (publish, state) = watch::channel(UpstreamSnapshot { link, known });
        let (commands, received) = mpsc::channel(64);
        let held = Arc::new(watch::Sender::new(0));
        let config = Arc::new(config);
        let incidents = context.history.of(config.name.as_str());
        let current_tally = incidents.current_tally();
        let supervisor = Supervisor::new(
            Arc::clone(&config),
            connector,
            PublishedState {
                scope: scope.clone(),
                state: publish,
                changed: Arc::clone(&context.changed),
                notification_log: context.notification_log.clone(),
                incidents,
                paused: context.paused.clone(),
                app_restarting: context.apps.app_state(&config.name).aside(),
                wanted: context.upstream_subscriptions.in_scope(&scope),
            },
            received,
            held.subscribe(),
            context.wakes.clone(),
            clock.clone(),
        );
        context.tasks.spawn(stop.run_until_cancelled_owned(supervisor.run()));
        let budget = Arc::new(Mutex::new(RetryBudget::new(Instant::now())));
        let settings = context.settings.clone();
        let held_bytes = Arc::default();
        Self {
            config,
            scope,
            per_client: None,
            state,
            commands,
            held,
            held_bytes,
            budget,
            settings,
            current_tally,
            clock,
        }
    }

    pub fn name(&self) -> &UpstreamName {
        &self.config.name
    }

    pub fn scope(&self) -> &ConnectionScope {
        &self.scope
    }

    pub fn state(&self) -> UpstreamSnapshot {
        self.state.borrow().clone()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<UpstreamSnapshot> {
        self.state.clone()
    }

    /// The last known catalog. If there is none yet, waits up to `patience` for the first connection.
    pub async fn known(&self, patience: Duration) -> Option<Arc<KnownCatalog>> {
        let mut state = self.state.clone();
        let settled = state.wait_for(|state| {
            state.known.is_some() || !matches!(state.link, LinkState::Connecting)
        });
        let _ = timeout(patience, settled).await;
        self.state().known
    }

    /// Waits until the first attempt to connect has succeeded or failed.
    pub async fn tried(&self) {
        let mut state = self.state.clone();
        let _ = state.wait_for(|state| !matches!(state.link, LinkState::Connecting)).await;
    }

    /// Waits until its supervisor has ended.
    pub async fn stopped(&self) {
        let mut state = self.state.clone();
        while state.changed().await.is_ok() {}
    }

    /// The protocol version it was last known to speak; the latest with sessions if unknown.
    pub fn protocol_version(&self) -> ProtocolVersion {
        let known = self.state.borrow().known.clone();
        known.map_or(ProtocolVersion::Session(SessionVersion::LATEST), |known| {
            known.protocol_version()
        })
    }

    /// Whether the current connection uses 2026-07-28, which has no sessions.
    pub fn is_stateless(&self) -> bool {
        match &self.state.borrow().link {
            LinkState::Ready(ready) => !ready.connection.has_ping(),
            LinkState::Connecting | LinkState::Down { .. } | LinkState::Paused { .. } => false,
        }
    }

    /// How many calls wait for its answer, including those that are held.
    pub fn calls_under_way(&self) -> usize {
        let in_flight = match &self.state.borrow().link {
            LinkState::Ready(ready) => ready.in_flight(),
            LinkState::Connecting | LinkState::Down { .. } | LinkState::Paused { .. } => 0,
        };
        let per_client = self
            .per_client
            .as_ref()
            .map_or(0, |all| all.handles().iter().map(Self::calls_under_way).sum());
        in_flight + *self.held.borrow() + per_client
    }

    /// Whether the user paused it.
    pub fn is_paused(&self) -> bool {
        matches!(self.state.borrow().link, LinkState::Paused { .. })
    }

    /// Waits briefly until the pause, or its end, has taken effect.
    pub async fn until_paused(&self, paused: bool) {
        let mut state = self.state.clone();
        let changed =
            state.wait_for(|state| matches!(state.link, LinkState::Paused { .. }) == paused);
        let _ = timeout(COMMAND_LIMIT, changed).await;
    }

    /// Applies a new configuration and returns the handle for it. Held calls stay held. The
    /// connection is kept unless the transport changed.
    pub async fn configure(
        &self,
        config: config::UpstreamConfig,
        known: Option<Arc<KnownCatalog>>,
    ) -> Self {
        if let Some(per_client) = &self.per_client {
            per_client.configure(&config, known.as_ref()).await;
        }
        let config = Arc::new(config);
        let (done, is_done) = oneshot::channel();
        let command = Configure { config: Arc::clone(&config), known, done };
        if self.commands.send(Command::Configure(command)).await.is_ok() {
            let _ = timeout(COMMAND_LIMIT, is_done).await;
        }
        Self { config, ..self.clone() }
    }

    /// Replaces the connection, and those of single editors.
    pub async fn restart(&self) {
        // Sending only fails if the supervisor has ended, because the gateway is stopping.
        let _ = self.commands.send(Command::Restart).await;
        if let Some(per_client) = &self.per_client {
            per_client.restart().await;
        }
    }

    /// Delivers a call and returns its one answer.
    pub async fn call(&self, request: &Request, caller: Option<&Caller>) -> CallReply {
        delivery::deliver(self, request, caller).await
    }

    /// Like [`Self::call`], but answers a list from the cached catalog if the upstream is slow.
    pub async fn answer(&self, request: &Request, caller: Option<&Caller>) -> CallReply {
        list_fallback::answer(self, request, caller).await
    }

    /// How long a call may be held, by the current settings.
    pub(super) fn hold(&self) -> Duration {
        self.settings.borrow().hold
    }

    /// The handle that `owner` uses: the shared one, or its own.
    pub fn used_by(&self, owner: &ScopeOwner) -> Self {
        match (&self.per_client, self.config.sharing) {
            (Some(per_client), Sharing::PerClient) => per_client.handle(self, owner),
            (None, _) | (_, Sharing::Shared) => self.clone(),
        }
    }

    /// Closes the connection of an owner that is gone for good.
    pub fn release(&self, owner: &ScopeOwner) {
        if let Some(per_client) = &self.per_client {
            per_client.release(owner);
        }
    }

    /// The application answers again: connect without waiting for the next attempt.
    pub(crate) async fn app_is_reachable(&self) {
        let _ = self.commands.send(Command::Reachable).await;
    }

    /// The application exited, so the connection is broken. Waits up to `patience` until the state
    /// says so.
    pub(crate) async fn report_app_exit(&self, failure: Failure, patience: Duration) {
        let LinkState::Ready(ready) = self.state().link else { return };
        let generation = ready.generation;
        let _ = self.commands.send(Command::Broken { generation, failure }).await;
        let mut state = self.state.clone();
        let down = state.wait_for(|state| !matches!(state.link, LinkState::Ready(_)));
        let _ = timeout(patience, down).await;
    }

    /// Waits briefly until no new call is sent, because the application is about to restart.
    pub(crate) async fn until_not_ready(&self) {
        let mut state = self.state.clone();
        let down = state.wait_for(|state| !matches!(state.link, LinkState::Ready(_)));
        let _ = timeout(COMMAND_LIMIT, down).await;
    }

    /// The calls in flight on each of its connections.
    pub(crate) fn in_flight_calls(&self) -> Vec<Arc<InFlightCalls>> {
        let per_client = self.per_client.as_ref().map(|all| all.handles()).unwrap_or_default();
        let states = per_client.iter().chain([self]).map(|one| one.state().link);
        let calls = states.filter_map(|link| match link {
            LinkState::Ready(ready) => Some(Arc::clone(ready.calls())),
            LinkState::Connecting | LinkState::Down { .. } | LinkState::Paused { .. } => None,
        });
        calls.collect()
    }
}
