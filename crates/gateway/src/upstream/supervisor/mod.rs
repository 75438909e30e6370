//! The task that owns one upstream.
//!
//! # Theory of operation
//! Each state is a function: *connect* makes a connection and reads the catalog, *serve* watches the
//! connection until it breaks, *rest* waits for the next attempt, *pause* waits for the user, and
//! *stand_aside* waits while the application restarts. The loop never ends: no number of failures
//! makes the supervisor give up. The wait grows while attempts fail, starts over after a connection
//! that lasted, and is short while a call is held. Calls never connect on their own, so a server in
//! trouble sees one attempt at a time.
//!
//! The desired state of the upstream is one [`DesiredState`](super::desired_state::DesiredState). Every
//! state waits for [`DesiredWatch::interrupted`] beside its own events, and no state awaits anything
//! else: reading lists, subscribing and closing happen beside it. So a pause, a restart or a changed
//! configuration takes effect at once, whatever the server does. When the configuration changes the
//! transport, the supervisor starts over with the new one, and held calls wait for it.
//!
//! - [`desired_watch`]: the desired state, and what of it is in force
//! - [`state_channel`]: what the supervisor publishes
//! - [`establish`]: makes a connection ready for use
//! - [`keepalive`]: detects a dead connection before a call does; [`kept_connection`]: one that hangs and
//!   may only be busy
//! - [`read_catalog`]: reads the catalog; [`catalog_refresh`]: reads it again when it changed
//! - [`failures`]: the failures that the supervisor itself reports

mod catalog_refresh;
mod desired_watch;
mod establish;
mod failures;
mod keepalive;
mod kept_connection;
mod read_catalog;
pub(super) mod state_channel;
#[cfg(test)]
mod tests;

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use evermoor_core::config;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::Resolution;
use evermoor_core::policy::backoff::Backoff;
use evermoor_core::policy::crash_loop::{CRASH_LOOP_RETRY_INTERVAL, CrashLoop};

use super::desired_state::Mode;
use super::subscriptions::SubscriptionSet;
use super::transport::connection::{Connected, ConnectionEvent};
use super::transport::connector::Connect;
use super::transport::live_connection::LateCall;
use super::{KnownCatalog, LinkState, LiveConnection, UpstreamSnapshot};
use crate::config::secrets::is_about_secrets;
use crate::system::clock::ClockAndRandom;
use crate::system::redaction;
use catalog_refresh::CatalogRefresh;
pub(super) use desired_watch::DesiredWatch;
use desired_watch::Interruption;
use establish::{Established, establish, unsubscribe_unwanted};
use failures::{being_restarted, crash_loop, panicked, restarted};
use keepalive::{KeepaliveProbe, ProbeResult};
use kept_connection::KeptConnection;
use state_channel::PublishedState;

pub(super) struct Supervisor<C> {
    desired: DesiredWatch,
    connector: C,
    published: PublishedState,
    signals: Signals,
    backoff: Backoff,
    crashes: CrashLoop,
    /// Whether the upstream was seen to handle several requests at once, or seen not to. Its connections of single
    /// editors share this.
    concurrent: Arc<watch::Sender<Option<bool>>>,
    /// The last connection whose calls were given up.
    kept: Option<AbortOnDropHandle<()>>,
    generation: u64,
    clock: ClockAndRandom,
    tasks: TaskTracker,
}

/// What can end the wait for the next attempt early.
pub(super) struct Signals {
    /// How many calls are held.
    pub(super) held: watch::Receiver<usize>,
    /// Counts how often the machine woke up.
    pub(super) wakes: watch::Receiver<u64>,
    /// Counts how often the application behind the upstream was found reachable again.
    pub(super) reachable: watch::Receiver<u64>,
}

/// A new connection, and what the supervisor needs to serve it.
struct NewConnection {
    ready: Arc<LiveConnection>,
    known: Arc<KnownCatalog>,
    incoming: mpsc::Receiver<ConnectionEvent>,
    late_calls: mpsc::Receiver<LateCall>,
    /// What it was subscribed to when it was made.
    subscribed: SubscriptionSet,
}

/// How a connection, or the attempt to make one, ended.
enum ConnectionEnd {
    Failed(Failure),
    Interrupted(Interruption),
}

/// Keeps a bug from becoming a busy loop.
const AFTER_A_PANIC: Duration = Duration::from_secs(1);
/// The longest wait between attempts to reach a local upstream while calls are held.
const LONGEST_WAIT_IF_HELD: Duration = Duration::from_millis(150);

impl<C: Connect> Supervisor<C> {
    pub(super) fn new(
        desired: DesiredWatch,
        connector: C,
        published: PublishedState,
        signals: Signals,
        concurrent: Arc<watch::Sender<Option<bool>>>,
        clock: ClockAndRandom,
        tasks: TaskTracker,
    ) -> Self {
        let backoff = backoff(desired.config());
        let crashes = CrashLoop::default();
        Self {
            desired,
            connector,
            published,
            signals,
            backoff,
            crashes,
            concurrent,
            kept: None,
            generation: 0,
            clock,
            tasks,
        }
    }

    /// Runs forever. A panic costs this upstream one second and does not affect the others.
    pub(super) async fn run(mut self) {
        while AssertUnwindSafe(self.keep_connected()).catch_unwind().await.is_err() {
            tracing::error!(upstream = %self.config().name, "the supervisor panicked and restarts");
            let (since, failure) = (self.clock.now(), panicked());
            self.went_down(&failure);
            let retry_at = since + AFTER_A_PANIC;
            self.show(LinkState::Down { since, retry_at, attempts: 0, failure });
            sleep(AFTER_A_PANIC).await;
        }
    }

    async fn keep_connected(&mut self) {
        let (mut attempt, mut since) = (0, self.clock.now());
        loop {
            match self.adopt() {
                Mode::Run => {}
                Mode::Pause => {
                    self.pause().await;
                    (attempt, since) = (0, self.clock.now());
                    continue;
                }
                Mode::StandAside => {
                    self.stand_aside().await;
                    (attempt, since) = (0, self.clock.now());
                    continue;
                }
            }
            let began = Instant::now();
            let end = match self.connect().await {
                Ok(new) => {
                    let ready = Arc::clone(&new.ready);
                    let end = self.serve(new).await;
                    since = self.clock.now();
                    if began.elapsed() >= self.backoff.longest() {
                        attempt = 0;
                    }
                    self.close(&ready, &end).await;
                    end
                }
                Err(end) => end,
            };
            let failure = match end {
                ConnectionEnd::Failed(failure) => redaction::of(failure),
                ConnectionEnd::Interrupted(Interruption::StartOver) => {
                    (attempt, since) = (0, self.clock.now());
                    continue;
                }
                ConnectionEnd::Interrupted(Interruption::Reconnect) => {
                    // The attempt that follows at once is the first.
                    attempt = 1;
                    continue;
                }
            };
            self.went_down(&failure);
            let looping = self.config().transport.is_stdio()
                && !is_about_secrets(failure.code)
                && self.crashes.ended(Instant::now().into_std(), began.elapsed());
            if attempt == 0 {
                tracing::warn!(upstream = %self.config().name, %failure, "upstream down");
            }
            match self.rest(attempt, since, failure, looping).await {
                Some(Interruption::StartOver) => (attempt, since) = (0, self.clock.now()),
                Some(Interruption::Reconnect) | None => attempt += 1,
            }
        }
    }

    fn config(&self) -> &Arc<config::UpstreamConfig> {
        self.desired.config()
    }

    fn went_down(&mut self, failure: &Failure) {
        let title = &self.desired.config().title;
        self.published.incidents.went_down(title, failure, self.clock.now());
    }

    /// Puts the desired state in force, and returns the mode.
    fn adopt(&mut self) -> Mode {
        let (mode, moved) = self.desired.adopt();
        if let Some(known) = moved {
            let transport = known.as_ref().and_then(|known| known.transport);
            self.connector.switch_to(self.desired.config(), transport);
            self.backoff = backoff(self.desired.config());
            self.crashes = CrashLoop::default();
            self.kept = None;
            self.concurrent.send_replace(known.as_ref().and_then(|known| known.concurrent));
            self.published.incidents.is_over(Resolution::Changed, self.clock.now());
            self.publish(LinkState::Connecting, known);
        }
        mode
    }

    async fn connect(&mut self) -> Result<NewConnection, ConnectionEnd> {
        self.signals.reachable.mark_unchanged();
        let made = {
            let limits = self.desired.config().catalog_limits;
            let wanted = self.published.wanted.clone();
            let mut making = pin!(establish(&mut self.connector, wanted, limits));
            loop {
                tokio::select! {
                    biased;
                    interruption = self.desired.interrupted() => match interruption {
                        // A new connection is already being made.
                        Interruption::Reconnect => {}
                        Interruption::StartOver => {
                            return Err(ConnectionEnd::Interrupted(interruption));
                        }
                    },
                    made = &mut making => break made,
                }
            }
        };
        let Established { connected, known, subscribed } = made.map_err(ConnectionEnd::Failed)?;
        let Connected { connection, handshake: _, incoming } = connected;
        self.generation += 1;
        tracing::info!(
            upstream = %self.config().name,
            server = %known.handshake.server.name,
            tools = known.catalog.tools.len(),
            "upstream connected"
        );
        let (ready, late_calls) =
            LiveConnection::new(self.generation, connection, self.clock.now());
        let (ready, seen) = (Arc::new(ready), *self.concurrent.borrow());
        let known = Arc::new(known.seen_concurrent(seen));
        self.publish(LinkState::Ready(Arc::clone(&ready)), Some(Arc::clone(&known)));
        self.published.incidents.is_over(Resolution::Reconnected, ready.since);
        Ok(NewConnection { ready, known, incoming, late_calls, subscribed })
    }

    /// Watches a connection until it breaks, and returns why it did.
    async fn serve(&mut self, new: NewConnection) -> ConnectionEnd {
        let NewConnection { ready, known, mut incoming, late_calls, subscribed } = new;
        let mut keepalive = KeepaliveProbe::new(
            &ready,
            self.desired.subscribe(),
            self.connector.preset_concurrency(),
            Arc::clone(&self.concurrent),
        );
        let mut concurrent = self.concurrent.subscribe();
        let mut refresh = CatalogRefresh::new(&ready, &known);
        let wanted = self.published.wanted.clone();
        let mut unsubscribing = pin!(unsubscribe_unwanted(Arc::clone(&ready), wanted, subscribed));
        loop {
            tokio::select! {
                biased;
                interruption = self.desired.interrupted() => {
                    return ConnectionEnd::Interrupted(interruption);
                }
                Some(message) = incoming.recv() => match message {
                    ConnectionEvent::Closed(failure) => return ConnectionEnd::Failed(failure),
                    ConnectionEvent::Notification(notification) => {
                        ready.record_activity();
                        if notification.method.ends_with("/list_changed") {
                            refresh.request(self.config().catalog_limits);
                        } else {
                            self.published.notification_log.publish(&self.published.scope, notification);
                        }
                    }
                },
                failure = ready.broken() => return ConnectionEnd::Failed(failure),
                Ok(()) = self.signals.wakes.changed() => keepalive.suspect(),
                verdict = keepalive.probe() => match verdict {
                    ProbeResult::Alive => self.show_stall(&ready, None),
                    ProbeResult::Silent(failure) => self.show_stall(&ready, Some(failure)),
                    ProbeResult::Dead(failure) => {
                        ready.abandon();
                        return ConnectionEnd::Failed(failure);
                    }
                    ProbeResult::Hung(failure) => {
                        ready.abandon();
                        let (pings, observed) =
                            (keepalive.into_open_pings(), Arc::clone(&self.concurrent));
                        self.keep(KeptConnection { ready, pings, late_calls, observed });
                        return ConnectionEnd::Failed(failure);
                    }
                },
                Ok(()) = concurrent.changed() => self.show_concurrency(&ready),
                // Each event restarts a ping that waits for its answer, so they must not be frequent.
                () = ready.refresh_requested(), if !refresh.is_pending() => refresh.request(self.config().catalog_limits),
                read = refresh.next() => match read {
                    Ok(known) => self.show_catalog(&ready, known),
                    Err(failure) if failure.code == Code::ConnectionLost => {
                        return ConnectionEnd::Failed(failure);
                    }
                    // If the server is slow, the lists it had stay.
                    Err(failure) => {
                        tracing::debug!(upstream = %self.config().name, %failure, "cannot read its lists");
                    }
                },
                never = &mut unsubscribing => match never {},
            }
        }
    }

    /// Keeps a connection open whose calls were given up, in place of the one before it.
    fn keep(&mut self, connection: KeptConnection) {
        self.connector.keep_last();
        let kept = self.tasks.spawn(connection.run(self.config().call_timeout));
        self.kept = Some(AbortOnDropHandle::new(kept));
    }

    /// Publishes what was seen of the upstream's concurrency, so that it is cached.
    fn show_concurrency(&self, ready: &Arc<LiveConnection>) {
        let (known, seen) = (self.published.known(), *self.concurrent.borrow());
        if let Some(known) = known.filter(|known| known.concurrent != seen) {
            let known = KnownCatalog::clone(&known).seen_concurrent(seen);
            self.publish(LinkState::Ready(Arc::clone(ready)), Some(Arc::new(known)));
        }
    }

    /// Publishes lists that were read again, if they changed.
    fn show_catalog(&self, ready: &Arc<LiveConnection>, known: KnownCatalog) {
        if self.published.known().is_none_or(|before| before.catalog != known.catalog) {
            let known = known.seen_concurrent(*self.concurrent.borrow());
            self.publish(LinkState::Ready(Arc::clone(ready)), Some(Arc::new(known)));
        }
    }

    fn show_stall(&mut self, ready: &Arc<LiveConnection>, stalled: Option<Failure>) {
        let now = self.clock.now();
        if ready.set_stalled(stalled.clone(), now) {
            match stalled {
                Some(failure) => self.went_down(&failure),
                None => self.published.incidents.is_over(Resolution::Answered, now),
            }
            self.published.changed.notify_one();
        }
    }

    /// Closes a connection that is no longer wanted. A server may allow only one, so a new one is
    /// made once the old one is closed.
    async fn close(&mut self, ready: &Arc<LiveConnection>, end: &ConnectionEnd) {
        let closing = async |ready: Arc<LiveConnection>| ready.connection.close().await;
        if let ConnectionEnd::Interrupted(_) = end {
            self.kept = None;
        }
        match end {
            // It is gone.
            ConnectionEnd::Failed(_) => {}
            ConnectionEnd::Interrupted(Interruption::StartOver) => {
                // Calls in flight keep the connection until they are answered.
                if ready.in_flight() == 0 {
                    self.tasks.spawn(closing(Arc::clone(ready)));
                }
            }
            ConnectionEnd::Interrupted(Interruption::Reconnect) => {
                let (since, failure) = (self.clock.now(), restarted());
                self.show(LinkState::Down { since, retry_at: since, attempts: 0, failure });
                let mut closed = self.tasks.spawn(closing(Arc::clone(ready)));
                loop {
                    tokio::select! {
                        biased;
                        interruption = self.desired.interrupted() => match interruption {
                            Interruption::Reconnect => {}
                            Interruption::StartOver => return,
                        },
                        _ = &mut closed => return,
                    }
                }
            }
        }
    }

    /// Waits for the next attempt. A restart by the user or a wake-up of the machine ends the wait,
    /// and a held call shortens it. Returns what interrupted it, if something did.
    async fn rest(
        &mut self,
        attempt: u32,
        since: SystemTime,
        failure: Failure,
        looping: bool,
    ) -> Option<Interruption> {
        let wait = self.wait(attempt, failure.code, looping);
        let retry_at = self.clock.now() + wait;
        let failure = if looping { crash_loop(&failure) } else { failure };
        self.show(LinkState::Down { since, retry_at, attempts: attempt, failure });
        let began = Instant::now();
        loop {
            let urgent = self.config().transport.is_local()
                && !looping
                && *self.signals.held.borrow_and_update() > 0;
            let wait = if urgent { wait.min(LONGEST_WAIT_IF_HELD) } else { wait };
            tokio::select! {
                biased;
                () = sleep(wait.saturating_sub(began.elapsed())) => return None,
                interruption = self.desired.interrupted() => return Some(interruption),
                Ok(()) = self.signals.held.changed() => {}
                Ok(()) = self.signals.wakes.changed() => return None,
                Ok(()) = self.signals.reachable.changed() => return None,
            }
        }
    }

    /// The wait after this many attempts, the last of which failed with `code`.
    fn wait(&self, attempt: u32, code: Code, looping: bool) -> Duration {
        match attempt {
            _ if looping => CRASH_LOOP_RETRY_INTERVAL,
            // After a connection breaks, the first attempt is immediate.
            0 => Duration::ZERO,
            _ => {
                let backoff = Backoff::after(code, self.backoff);
                backoff.wait(attempt - 1, self.clock.random_u32())
            }
        }
    }

    /// Waits until the user resumes the upstream. Changes of the configuration still apply.
    async fn pause(&mut self) {
        tracing::info!(upstream = %self.config().name, "upstream paused");
        self.kept = None;
        let since = self.clock.now();
        self.published.incidents.is_over(Resolution::Paused, since);
        while self.adopt() == Mode::Pause {
            self.show(LinkState::Paused { since });
            self.desired.interrupted().await;
        }
        tracing::info!(upstream = %self.config().name, "upstream resumed");
        self.show(LinkState::Connecting);
    }

    /// Waits until the application has restarted. Calls are held as in any outage, and it is
    /// recorded as one.
    async fn stand_aside(&mut self) {
        let (since, failure) = (self.clock.now(), being_restarted(&self.config().title));
        // During an outage, the restart itself records its steps.
        if !self.published.incidents.is_down() {
            self.went_down(&failure);
        }
        let link = LinkState::Down { since, retry_at: since, attempts: 0, failure };
        while self.adopt() == Mode::StandAside {
            self.show(link.clone());
            self.desired.interrupted().await;
        }
    }

    fn show(&self, link: LinkState) {
        self.publish(link, self.published.known());
    }

    fn publish(&self, link: LinkState, known: Option<Arc<KnownCatalog>>) {
        let config = Arc::clone(self.desired.config());
        self.published.set(UpstreamSnapshot { link, known, config });
    }
}

fn backoff(config: &config::UpstreamConfig) -> Backoff {
    if config.transport.is_local() { Backoff::LOCAL } else { Backoff::REMOTE }
}
