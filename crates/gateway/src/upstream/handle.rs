//! The handle that everyone except the supervisor holds on an upstream.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::config::{self, Sharing};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::first_list::Outlook;
use evermoor_core::protocol::envelope::Request;
use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;

use super::auth::ProtectedServer;
use super::delivery::in_flight::InFlightCalls;
use super::delivery::retry_budget::RetryBudget;
use super::delivery::{self, list_fallback};
use super::desired_state::{DesiredStateSender, Mode};
use super::per_client::{PerClientConnections, TooManyClients};
use super::supervisor::state_channel::PublishedState;
use super::supervisor::{DesiredWatch, Signals, Supervisor};
use super::transport::connector::{Connect, Connector};
use super::{
    CallReply, Caller, ConnectionScope, KnownCatalog, LinkState, REACTION_LIMIT, ScopeOwner,
    SignIns, UpstreamContext, UpstreamSnapshot,
};
use crate::history::CurrentTally;
use crate::history::recorder::{IncidentRecorder, UpstreamIncidents};
use crate::system::budget::Budget;
use crate::system::clock::ClockAndRandom;

/// An upstream, as everyone except its supervisor sees it.
#[derive(Clone)]
pub struct UpstreamHandle {
    pub config: Arc<config::UpstreamConfig>,
    pub(super) scope: ConnectionScope,
    /// The connections of single editors; `None` if this handle is one of them.
    per_client: Option<Arc<PerClientConnections>>,
    pub(super) state: watch::Receiver<UpstreamSnapshot>,
    /// The desired state of the upstream.
    desired: DesiredStateSender,
    /// Counts how often its application was found reachable again.
    reachable: Arc<watch::Sender<u64>>,
    /// Whether it was seen to handle several requests at once.
    concurrent: Arc<watch::Sender<Option<bool>>>,
    /// How many calls wait for a connection.
    pub(super) held: Arc<watch::Sender<usize>>,
    /// How many bytes those calls occupy.
    pub(super) held_bytes: Arc<AtomicUsize>,
    pub(super) budget: Arc<Mutex<RetryBudget>>,
    /// How much of what it sent may be kept.
    buffers: Arc<Budget>,
    pub(super) settings: watch::Receiver<config::GatewayConfig>,
    /// Counts the calls that an outage affects.
    pub(super) current_tally: CurrentTally,
    /// Its outages, for all its connections.
    incidents: Arc<UpstreamIncidents>,
    pub(super) clock: ClockAndRandom,
    pub(super) sign_ins: SignIns,
}

/// What the supervisor of a connection starts with.
struct SupervisorStart<C> {
    scope: ConnectionScope,
    /// The configuration that the connector was made for.
    config: Arc<config::UpstreamConfig>,
    known: Option<Arc<KnownCatalog>>,
    connector: C,
    desired: DesiredStateSender,
    reachable: Arc<watch::Sender<u64>>,
    concurrent: Arc<watch::Sender<Option<bool>>>,
    incidents: IncidentRecorder,
}

impl UpstreamHandle {
    /// Starts the supervisor of one upstream, with the catalog `known` from an earlier run. It runs
    /// until `stop`.
    pub fn start(
        config: config::UpstreamConfig,
        known: Option<Arc<KnownCatalog>>,
        paused: bool,
        context: &UpstreamContext,
        stop: CancellationToken,
    ) -> Self {
        let per_client = Some(Arc::new(PerClientConnections::new(context.clone(), stop.clone())));
        let scope = ConnectionScope::shared(&config.name);
        let connector = connector(&config, known.as_ref(), context, &stop);
        let config = Arc::new(config);
        let desired = DesiredStateSender::new(&config, paused);
        let reachable = Arc::default();
        let concurrent = seen_concurrent(known.as_ref());
        let incidents = context.history.of(config.name.as_str());
        let new = SupervisorStart {
            scope,
            config,
            known,
            connector,
            desired,
            reachable,
            concurrent,
            incidents,
        };
        Self { per_client, ..new.spawn(context, stop) }
    }

    /// Starts a supervisor for the connection of one editor, which follows the same desired state.
    pub(super) fn start_per_client(
        &self,
        owner: ScopeOwner,
        context: &UpstreamContext,
        stop: CancellationToken,
    ) -> Self {
        let known = self.state().known;
        let connector = connector(&self.config, known.as_ref(), context, &stop);
        let new = SupervisorStart {
            scope: ConnectionScope { upstream: self.name().clone(), owner: Some(owner) },
            config: Arc::clone(&self.config),
            known,
            connector,
            desired: self.desired.clone(),
            reachable: Arc::clone(&self.reachable),
            concurrent: Arc::clone(&self.concurrent),
            incidents: self.incidents.of_editor(),
        };
        new.spawn(context, stop)
    }

    #[cfg(test)]
    pub(super) fn start_with(
        config: config::UpstreamConfig,
        connector: impl Connect,
        known: Option<Arc<KnownCatalog>>,
        context: &UpstreamContext,
        stop: CancellationToken,
    ) -> Self {
        let (scope, config) = (ConnectionScope::shared(&config.name), Arc::new(config));
        let desired = DesiredStateSender::new(&config, false);
        let reachable = Arc::default();
        let concurrent = seen_concurrent(known.as_ref());
        let incidents = context.history.of(config.name.as_str());
        let new = SupervisorStart {
            scope,
            config,
            known,
            connector,
            desired,
            reachable,
            concurrent,
            incidents,
        };
        new.spawn(context, stop)
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

    /// The last known catalog. If there is none yet, waits for the first connection, altogether at most
    /// as long as `longest` says of the outlook at each moment.
    pub async fn first_known(
        &self,
        longest: impl Fn(Outlook) -> Duration,
    ) -> Option<Arc<KnownCatalog>> {
        let (mut state, began) = (self.state.clone(), Instant::now());
        loop {
            let outlook = {
                let now = state.borrow_and_update();
                if now.known.is_some() {
                    return now.known.clone();
                }
                outlook(&now.link)
            };
            let left = longest(outlook).saturating_sub(began.elapsed());
            if left.is_zero() || !matches!(timeout(left, state.changed()).await, Ok(Ok(()))) {
                return self.state().known;
            }
        }
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

    /// Whether the current connection repeats the parameters of tools in headers.
    pub(crate) fn repeats_parameters(&self) -> bool {
        match &self.state.borrow().link {
            LinkState::Ready(ready) => ready.connection.repeats_parameters(),
            LinkState::Connecting | LinkState::Down { .. } | LinkState::Paused { .. } => false,
        }
    }

    /// The account that the user signed in with, if it is known.
    pub(crate) fn account(&self) -> Option<String> {
        self.sign_ins.grants().account(&ProtectedServer::of(&self.config)?)
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

    /// Pauses or resumes it, without waiting for the effect.
    pub(crate) fn set_paused(&self, paused: bool) {
        self.desired.set_paused(paused);
    }

    /// Waits briefly until the pause, or its end, has taken effect.
    pub async fn until_paused(&self, paused: bool) {
        self.until(|state| matches!(state.link, LinkState::Paused { .. }) == paused).await;
    }

    /// Applies a new configuration and returns the handle for it. Held calls stay held. The
    /// connection is kept unless the transport changed.
    pub async fn configure(
        &self,
        config: config::UpstreamConfig,
        known: Option<Arc<KnownCatalog>>,
    ) -> Self {
        let config = Arc::new(config);
        self.desired.configure(&config, known);
        self.buffers.set_limit(config.buffer_limit);
        if let Some(per_client) = &self.per_client {
            per_client.configure(&config).await;
        }
        self.until_in_force(&config).await;
        Self { config, ..self.clone() }
    }

    /// Waits briefly until no connection is made by another transport than this one's.
    pub(super) async fn until_in_force(&self, config: &config::UpstreamConfig) {
        self.until(|state| state.config.transport == config.transport).await;
    }

    /// Replaces the connection, and those of single editors, because the user wants that.
    pub fn restart(&self) {
        self.desired.request_connection(self.clock.now());
    }

    /// Requests the restart of its application with this number, because the user wants that.
    pub(crate) fn restart_app(&self, number: u64) {
        self.desired.request_app_restart(number, self.clock.now());
    }

    /// Waits until the user wants a restart of the application with a higher number than this.
    pub(crate) async fn until_app_restart_after(&self, number: u64) {
        let mut desired = self.desired.subscribe();
        // This cannot fail: `self` owns a sender.
        let _ = desired.wait_for(|desired| desired.restarts.app > number).await;
    }

    /// When the user last requested a restart.
    pub fn restart_requested_at(&self) -> Option<SystemTime> {
        self.desired.restarts().at
    }

    /// Waits briefly for a state that the supervisor was asked for.
    async fn until(&self, reached: impl FnMut(&UpstreamSnapshot) -> bool) {
        let mut state = self.state.clone();
        let _ = timeout(REACTION_LIMIT, state.wait_for(reached)).await;
    }

    /// Delivers a call and returns its one answer.
    pub async fn call(&self, request: &Request, caller: Option<&Caller>) -> CallReply {
        delivery::deliver(self, request, caller).await
    }

    /// Like [`Self::call`], but answers a list from the cached catalog unless the upstream is quick.
    pub async fn answer(&self, request: &Request, caller: Option<&Caller>) -> CallReply {
        list_fallback::answer(self, request, caller).await
    }

    /// How long a call may be held, by the current settings.
    pub(super) fn hold(&self) -> Duration {
        self.settings.borrow().hold
    }

    /// The handle that `owner` uses: the shared one, or its own.
    pub(crate) fn used_by(&self, owner: &ScopeOwner) -> Result<Self, TooManyClients> {
        match (&self.per_client, self.config.sharing) {
            (Some(per_client), Sharing::PerClient) => per_client.handle(self, owner),
            (None, _) | (_, Sharing::Shared) => Ok(self.clone()),
        }
    }

    /// Closes the connection of an owner that is gone for good.
    pub fn release(&self, owner: &ScopeOwner) {
        if let Some(per_client) = &self.per_client {
            per_client.release(owner);
        }
    }

    /// The application answers again: connect without waiting for the next attempt.
    pub(crate) fn app_is_reachable(&self) {
        self.reachable.send_modify(|count| *count += 1);
    }

    /// The application exited, so the connection is broken. Waits up to `patience` until the state
    /// says so.
    pub(crate) async fn report_app_exit(&self, failure: Failure, patience: Duration) {
        let LinkState::Ready(ready) = self.state().link else { return };
        ready.report_broken(failure);
        let mut state = self.state.clone();
        let down = state.wait_for(|state| !matches!(state.link, LinkState::Ready(_)));
        let _ = timeout(patience, down).await;
    }

    /// Keeps its connections from being made while its application restarts, or no longer.
    pub(crate) fn set_stand_aside(&self, stand_aside: bool) {
        self.desired.set_stand_aside(stand_aside);
    }

    /// Waits briefly until no new call is sent, because the application is about to restart.
    pub(crate) async fn until_not_ready(&self) {
        self.until(|state| !matches!(state.link, LinkState::Ready(_))).await;
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

impl<C: Connect> SupervisorStart<C> {
    fn spawn(self, context: &UpstreamContext, stop: CancellationToken) -> UpstreamHandle {
        let Self { scope, config, known, connector, desired, reachable, concurrent, incidents } =
            self;
        let clock = context.clock.clone();
        let buffers = context.budgets.upstream(config.name.as_str(), config.buffer_limit);
        let link = match desired.mode() {
            Mode::Pause => LinkState::Paused { since: clock.now() },
            Mode::Run | Mode::StandAside => LinkState::Connecting,
        };
        let snapshot = UpstreamSnapshot { link, known, config: Arc::clone(&config) };
        let (publish, state) = watch::channel(snapshot);
        let held = Arc::new(watch::Sender::new(0));
        let shared_incidents = Arc::clone(incidents.incidents());
        let current_tally = shared_incidents.current_tally();
        let supervisor = Supervisor::new(
            DesiredWatch::new(desired.subscribe(), Arc::clone(&config)),
            connector,
            PublishedState {
                scope: scope.clone(),
                state: publish,
                changed: Arc::clone(&context.changed),
                notification_log: context.notification_log.clone(),
                incidents,
                wanted: context.upstream_subscriptions.in_scope(&scope),
            },
            Signals {
                held: held.subscribe(),
                wakes: context.wakes.clone(),
                reachable: reachable.subscribe(),
            },
            Arc::clone(&concurrent),
            clock.clone(),
            context.tasks.clone(),
        );
        context.tasks.spawn(stop.run_until_cancelled_owned(supervisor.run()));
        UpstreamHandle {
            config,
            scope,
            per_client: None,
            state,
            desired,
            reachable,
            concurrent,
            held,
            held_bytes: Arc::default(),
            budget: Arc::new(Mutex::new(RetryBudget::new(Instant::now()))),
            buffers,
            settings: context.settings.clone(),
            current_tally,
            incidents: shared_incidents,
            clock,
            sign_ins: context.sign_ins.clone(),
        }
    }
}

/// Whether waiting for a connection may help.
fn outlook(link: &LinkState) -> Outlook {
    match link {
        LinkState::Connecting | LinkState::Ready(_) => Outlook::Starting,
        LinkState::Paused { .. } => Outlook::NeedsPerson,
        LinkState::Down { failure, .. } if failure.code == Code::AuthRequired => {
            Outlook::NeedsPerson
        }
        LinkState::Down { .. } => Outlook::Down,
    }
}

fn seen_concurrent(known: Option<&Arc<KnownCatalog>>) -> Arc<watch::Sender<Option<bool>>> {
    Arc::new(watch::Sender::new(known.and_then(|known| known.concurrent)))
}

fn connector(
    config: &config::UpstreamConfig,
    known: Option<&Arc<KnownCatalog>>,
    context: &UpstreamContext,
    stop: &CancellationToken,
) -> Connector {
    let transport = known.and_then(|known| known.transport);
    let app = context.apps.of(&config.name);
    let access = (context.secrets.clone(), context.sign_ins.grants());
    let buffers = context.budgets.upstream(config.name.as_str(), config.buffer_limit);
    Connector::new(config, app, access, buffers, transport, context.tasks.clone(), stop.clone())
}
