//! The task that owns one upstream.
//!
//! # Theory of operation
//! Each state is a function: *connect* makes a connection and reads the catalog, *serve* watches the
//! connection until it breaks, *rest* waits for the next attempt, *pause* waits for the user, and
//! *wait_for_app* waits while the application restarts. The loop never ends: no number of failures
//! makes the supervisor give up. The wait grows while attempts fail, starts over after a connection
//! that lasted, and is short while a call is held. Calls never connect on their own, so a server in
//! trouble sees one attempt at a time. When the configuration changes the transport, the supervisor
//! starts over with the new one, and held calls wait for it.
//!
//! - [`state_channel`]: what the supervisor publishes, and the watches it reacts to
//! - [`keepalive`]: detects a dead connection before a call does
//! - [`read_catalog`]: reads the catalog; [`pause_watch`]: whether the user paused the upstream
//! - [`failures`]: the failures that the supervisor itself reports

mod failures;
mod keepalive;
mod pause_watch;
mod read_catalog;
pub(super) mod state_channel;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wake_tests;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

use evermoor_core::config;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::Resolution;
use evermoor_core::policy::backoff::Backoff;
use evermoor_core::policy::crash_loop::{CRASH_LOOP_RETRY_INTERVAL, CrashLoop};

use super::transport::connection::{Connected, Incoming};
use super::transport::connector::Connect;
use super::{Command, Configure, KnownCatalog, LinkState, LiveConnection, UpstreamSnapshot};
use crate::config::secrets::is_about_secrets;
use crate::system::clock::ClockAndRandom;
use crate::system::redaction;
use failures::{being_restarted, crash_loop, panicked, restarted};
use keepalive::{KeepaliveProbe, ProbeResult};
pub(super) use pause_watch::PauseWatch;
use state_channel::PublishedState;

pub(super) struct Supervisor<C> {
    config: Arc<config::UpstreamConfig>,
    connector: C,
    published: PublishedState,
    pause: PauseWatch,
    commands: mpsc::Receiver<Command>,
    held: watch::Receiver<usize>,
    /// Counts how often the machine woke up.
    wakes: watch::Receiver<u64>,
    backoff: Backoff,
    crashes: CrashLoop,
    generation: u64,
    clock: ClockAndRandom,
}

/// How a connection, or the attempt to make one, ended.
enum ConnectionEnd {
    Failed(Failure),
    /// The user wants a new connection.
    RestartRequested,
    /// The configuration names another transport.
    Reconfigured,
    /// The user paused the upstream.
    Paused,
    /// The application behind it is being restarted.
    AppRestarting,
}

/// Keeps a bug from becoming a busy loop.
const AFTER_A_PANIC: Duration = Duration::from_secs(1);
/// The longest wait between attempts to reach a local upstream while calls are held.
const LONGEST_WAIT_IF_HELD: Duration = Duration::from_millis(150);
/// A burst of `list_changed` notifications within this time causes one read.
const REFRESH_DELAY: Duration = Duration::from_millis(100);

impl<C: Connect> Supervisor<C> {
    pub(super) fn new(
        config: Arc<config::UpstreamConfig>,
        connector: C,
        published: PublishedState,
        commands: mpsc::Receiver<Command>,
        held: watch::Receiver<usize>,
        wakes: watch::Receiver<u64>,
        clock: ClockAndRandom,
    ) -> Self {
        let backoff = backoff(&config);
        let crashes = CrashLoop::default();
        let pause = PauseWatch { paused: published.paused.clone(), upstream: config.name.clone() };
        Self {
            config,
            connector,
            published,
            pause,
            commands,
            held,
            wakes,
            backoff,
            crashes,
            generation: 0,
            clock,
        }
    }

    /// Runs forever. A panic costs this upstream one second and does not affect the others.
    pub(super) async fn run(mut self) {
        while AssertUnwindSafe(self.keep_connected()).catch_unwind().await.is_err() {
            tracing::error!(upstream = %self.config.name, "the supervisor panicked and restarts");
            let (since, failure) = (self.clock.now(), panicked());
            self.went_down(&failure);
            let retry_at = since + AFTER_A_PANIC;
            let link = LinkState::Down { since, retry_at, attempts: 0, failure };
            self.published.set(UpstreamSnapshot { link, known: self.published.known() });
            sleep(AFTER_A_PANIC).await;
        }
    }

    async fn keep_connected(&mut self) {
        let (mut attempt, mut since) = (0, self.clock.now());
        loop {
            if self.pause.is_paused() {
                self.pause().await;
                (attempt, since) = (0, self.clock.now());
            }
            if *self.published.app_restarting.borrow() {
                self.wait_for_app().await;
                (attempt, since) = (0, self.clock.now());
                continue;
            }
            let began = Instant::now();
            let end = match self.connect().await {
                Ok((ready, incoming)) => {
                    let end = self.serve(&ready, incoming).await;
                    since = self.clock.now();
                    if began.elapsed() >= self.backoff.longest() {
                        attempt = 0;
                    }
                    end
                }
                Err(end) => end,
            };
            let failure = match end {
                ConnectionEnd::Failed(failure) => {
                    let failure = redaction::of(failure);
                    self.went_down(&failure);
                    failure
                }
                ConnectionEnd::RestartRequested => restarted(),
                ConnectionEnd::Reconfigured
                | ConnectionEnd::Paused
                | ConnectionEnd::AppRestarting => {
                    (attempt, since) = (0, self.clock.now());
                    continue;
                }
            };
            let looping = self.config.transport.is_stdio()
                && !is_about_secrets(failure.code)
                && self.crashes.ended(Instant::now().into_std(), began.elapsed());
            if attempt == 0 {
                tracing::warn!(upstream = %self.config.name, %failure, "upstream down");
            }
            attempt = match self.rest(attempt, since, failure, looping).await {
                Some(
                    ConnectionEnd::Reconfigured
                    | ConnectionEnd::Paused
                    | ConnectionEnd::AppRestarting,
                ) => 0,
                Some(ConnectionEnd::Failed(_) | ConnectionEnd::RestartRequested) | None => {
                    attempt + 1
                }
            };
        }
    }

    fn went_down(&mut self, failure: &Failure) {
        self.published.incidents.went_down(&self.config.title, failure, self.clock.now());
    }

    async fn connect(
        &mut self,
    ) -> Result<(Arc<LiveConnection>, mpsc::Receiver<Incoming>), ConnectionEnd> {
        let made = {
            let limits = self.config.catalog_limits;
            let making = read_catalog::connect_and_list(&mut self.connector, limits);
            let mut making = std::pin::pin!(making);
            loop {
                tokio::select! {
                    biased;
                    () = self.pause.until(true) => return Err(ConnectionEnd::Paused),
                    () = until_app_restarting(&mut self.published.app_restarting, true) => return Err(ConnectionEnd::AppRestarting),
                    Some(command) = self.commands.recv() => match command {
                        Command::Configure(new) if new.changes_transport(&self.config) => break Err(new),
                        Command::Configure(new) => self.config = new.apply(),
                        // A new connection is already being made.
                        Command::Restart | Command::Reachable | Command::Broken { .. } => {}
                    },
                    made = &mut making => break Ok(made),
                }
            }
        };
        let (Connected { connection, handshake, incoming }, catalog) = match made {
            Ok(made) => made.map_err(ConnectionEnd::Failed)?,
            Err(new) => return Err(self.switch_transport(new)),
        };
        self.generation += 1;
        tracing::info!(
            upstream = %self.config.name,
            server = %handshake.server.name,
            tools = catalog.tools.len(),
            "upstream connected"
        );
        connection.subscribe(self.published.wanted.clone(), &handshake).await;
        let ready = Arc::new(LiveConnection::new(self.generation, connection, self.clock.now()));
        let known = Arc::new(KnownCatalog::new(handshake, catalog, self.connector.transport()));
        self.published.set(UpstreamSnapshot {
            link: LinkState::Ready(Arc::clone(&ready)),
            known: Some(known),
        });
        self.published.incidents.is_over(Resolution::Reconnected, ready.since);
        Ok((ready, incoming))
    }

    /// Switches to the transport that the configuration names now.
    fn switch_transport(&mut self, new: Configure) -> ConnectionEnd {
        let transport = new.known.as_ref().and_then(|known| known.transport);
        self.connector.switch_to(&new.config, transport);
        self.backoff = backoff(&new.config);
        self.crashes = CrashLoop::default();
        self.published.incidents.is_over(Resolution::Changed, self.clock.now());
        self.published
            .set(UpstreamSnapshot { link: LinkState::Connecting, known: new.known.clone() });
        self.config = new.apply();
        ConnectionEnd::Reconfigured
    }

    /// Watches a connection until it breaks, and returns why it did.
    async fn serve(
        &mut self,
        ready: &Arc<LiveConnection>,
        mut incoming: mpsc::Receiver<Incoming>,
    ) -> ConnectionEnd {
        let mut keepalive = KeepaliveProbe::new(&self.config);
        let mut refresh_at = None;
        let mut subscribed = self.published.wanted.borrow_and_update().clone();
        loop {
            let refresh = async {
                match refresh_at {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                Some(message) = incoming.recv() => match message {
                    Incoming::Closed(failure) => return ConnectionEnd::Failed(failure),
                    Incoming::Notification(notification) => {
                        ready.record_activity();
                        if notification.method.ends_with("/list_changed") {
                            refresh_at.get_or_insert(Instant::now() + REFRESH_DELAY);
                        } else {
                            self.published.notification_log.publish(&self.published.scope, notification);
                        }
                    }
                },
                command = self.commands.recv() => match command {
                    Some(Command::Broken { generation, failure }) if generation == ready.generation => {
                        return ConnectionEnd::Failed(failure);
                    }
                    Some(Command::Broken { .. } | Command::Reachable) => {}
                    Some(Command::Configure(new)) if new.changes_transport(&self.config) => {
                        let end = self.switch_transport(new);
                        // Calls in flight keep the old connection until they are answered.
                        if ready.in_flight() == 0 {
                            ready.connection.close().await;
                        }
                        return end;
                    }
                    Some(Command::Configure(new)) => {
                        self.config = new.apply();
                        keepalive = KeepaliveProbe::new(&self.config);
                    }
                    Some(Command::Restart) | None => {
                        ready.connection.close().await;
                        return ConnectionEnd::RestartRequested;
                    }
                },
                () = self.pause.until(true) => {
                    // Calls in flight keep the connection until they are answered.
                    if ready.in_flight() == 0 {
                        ready.connection.close().await;
                    }
                    return ConnectionEnd::Paused;
                }
                () = until_app_restarting(&mut self.published.app_restarting, true) => {
                    if ready.in_flight() == 0 {
                        ready.connection.close().await;
                    }
                    return ConnectionEnd::AppRestarting;
                }
                Ok(()) = self.wakes.changed() => keepalive.suspect(),
                Ok(()) = self.published.wanted.changed() => {
                    let now = self.published.wanted.borrow_and_update().clone();
                    ready.connection.unsubscribe(&subscribed, &now).await;
                    subscribed = now;
                }
                verdict = keepalive.probe(ready) => match verdict {
                    ProbeResult::Alive => self.show_stall(ready, None),
                    ProbeResult::Silent(failure) => self.show_stall(ready, Some(failure)),
                    ProbeResult::Dead(failure) => {
                        ready.abandon();
                        return ConnectionEnd::Failed(failure);
                    }
                },
                () = refresh => {
                    refresh_at = None;
                    if let Some(failure) = self.refresh(ready).await {
                        return ConnectionEnd::Failed(failure);
                    }
                }
            }
        }
    }

    /// Reads the lists again and publishes them if they changed. Returns why the connection broke,
    /// if it did.
    async fn refresh(&mut self, ready: &Arc<LiveConnection>) -> Option<Failure> {
        let known = self.published.known()?;
        let limits = self.config.catalog_limits;
        match read_catalog::catalog(&ready.connection, &known.handshake, limits).await {
            Ok(catalog) if catalog != known.catalog => {
                let (handshake, transport) = (known.handshake.clone(), known.transport);
                let known = KnownCatalog::new(handshake, catalog, transport);
                let link = LinkState::Ready(Arc::clone(ready));
                self.published.set(UpstreamSnapshot { link, known: Some(Arc::new(known)) });
                None
            }
            Ok(_) => None,
            Err(failure) if failure.code == Code::ConnectionLost => Some(failure),
            // If the server is slow, the lists it had stay.
            Err(failure) => {
                tracing::debug!(upstream = %self.config.name, %failure, "cannot read its lists");
                None
            }
        }
    }

    fn show_stall(&mut self, ready: &Arc<LiveConnection>, stalled: Option<Failure>) {
        if ready.set_stalled(stalled.clone()) {
            match stalled {
                Some(failure) => self.went_down(&failure),
                None => self.published.incidents.is_over(Resolution::Answered, self.clock.now()),
            }
            self.published.changed.notify_one();
        }
    }

    /// Waits for the next attempt. A restart by the user or a wake-up of the machine ends the wait,
    /// and a held call shortens it. Returns `Some` if something other than the time ended it.
    async fn rest(
        &mut self,
        attempt: u32,
        since: SystemTime,
        failure: Failure,
        looping: bool,
    ) -> Option<ConnectionEnd> {
        let wait = self.wait(attempt, failure.code, looping);
        let retry_at = self.clock.now() + wait;
        let failure = if looping { crash_loop(&failure) } else { failure };
        let link = LinkState::Down { since, retry_at, attempts: attempt, failure };
        self.published.set(UpstreamSnapshot { link, known: self.published.known() });
        let began = Instant::now();
        loop {
            let urgent =
                self.config.transport.is_local() && !looping && *self.held.borrow_and_update() > 0;
            let wait = if urgent { wait.min(LONGEST_WAIT_IF_HELD) } else { wait };
            tokio::select! {
                biased;
                () = sleep(wait.saturating_sub(began.elapsed())) => return None,
                Ok(()) = self.held.changed() => {}
                Ok(()) = self.wakes.changed() => return None,
                () = self.pause.until(true) => return Some(ConnectionEnd::Paused),
                () = until_app_restarting(&mut self.published.app_restarting, true) => return Some(ConnectionEnd::AppRestarting),
                Some(command) = self.commands.recv() => match command {
                    Command::Restart | Command::Reachable => return None,
                    Command::Configure(new) if new.changes_transport(&self.config) => {
                        return Some(self.switch_transport(new));
                    }
                    Command::Configure(new) => self.config = new.apply(),
                    Command::Broken { .. } => {}
                },
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
        tracing::info!(upstream = %self.config.name, "upstream paused");
        let since = self.clock.now();
        self.published.incidents.is_over(Resolution::Paused, since);
        self.show(LinkState::Paused { since });
        loop {
            tokio::select! {
                biased;
                () = self.pause.until(false) => break,
                Some(command) = self.commands.recv() => match command {
                    Command::Configure(new) if new.changes_transport(&self.config) => {
                        self.switch_transport(new);
                        self.show(LinkState::Paused { since });
                    }
                    Command::Configure(new) => self.config = new.apply(),
                    Command::Restart | Command::Reachable | Command::Broken { .. } => {}
                },
            }
        }
        tracing::info!(upstream = %self.config.name, "upstream resumed");
        self.show(LinkState::Connecting);
    }

    fn show(&self, link: LinkState) {
        self.published.set(UpstreamSnapshot { link, known: self.published.known() });
    }

    /// Waits until the application has restarted. Calls are held as in any outage, and it is
    /// recorded as one.
    async fn wait_for_app(&mut self) {
        let (since, failure) = (self.clock.now(), being_restarted(&self.config.title));
        // During an outage, the restart itself records its steps.
        if !self.published.incidents.is_down() {
            self.went_down(&failure);
        }
        self.show(LinkState::Down { since, retry_at: since, attempts: 0, failure });
        loop {
            tokio::select! {
                biased;
                () = until_app_restarting(&mut self.published.app_restarting, false) => return,
                () = self.pause.until(true) => return,
                Some(command) = self.commands.recv() => match command {
                    Command::Configure(new) if new.changes_transport(&self.config) => {
                        self.switch_transport(new);
                        return;
                    }
                    Command::Configure(new) => self.config = new.apply(),
                    Command::Restart | Command::Reachable | Command::Broken { .. } => {}
                },
            }
        }
    }
}

fn backoff(config: &config::UpstreamConfig) -> Backoff {
    if config.transport.is_local() { Backoff::LOCAL } else { Backoff::REMOTE }
}

impl Configure {
    fn changes_transport(&self, from: &config::UpstreamConfig) -> bool {
        self.config.transport != from.transport
    }

    /// Confirms the change and returns the new configuration.
    fn apply(self) -> Arc<config::UpstreamConfig> {
        let _ = self.done.send(());
        self.config
    }
}

/// Waits until the application is being restarted, or until it is not.
async fn until_app_restarting(restarting: &mut watch::Receiver<bool>, wanted: bool) {
    if restarting.wait_for(|restarting| *restarting == wanted).await.is_err() {
        // The sender is gone, so the value can no longer change.
        std::future::pending().await
    }
}
