//! The task that owns one upstream.
//!
//! # Theory of operation
//! Three states, each a function: *connect* makes a connection and reads what the upstream offers;
//! *serve* watches it until it breaks; *rest* waits for the next attempt. The loop never ends: no
//! number of failures makes an upstream dead for good. The wait grows while attempts fail and
//! starts over after a connection that lived. While a call is held, the wait is short. Because
//! every call waits while there is no connection, the one attempt of this task is all that a
//! server in trouble sees of us. When the configuration names another way to the upstream, the task
//! turns to it and starts over, and the calls that are held wait for that.

pub(crate) mod app_commands;
mod connecting;
pub(crate) mod keepalive;
pub(crate) mod liveness_socket;
mod pacing;
mod pausing;
pub(crate) mod published;
pub(crate) mod read_catalog;
pub(crate) mod resubscribe;
mod serving;
mod stand_aside;
mod text;
#[cfg(test)]
mod wake_tests;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

use evermoor_core::config;
use evermoor_core::failure::Failure;
use evermoor_core::policy::backoff::Backoff;
use evermoor_core::policy::timing::CrashLoop;

use super::transport::connection::Incoming;
use super::transport::connector::Connect;
use super::{Command, Link, Ready, State};
use crate::config::secrets::is_about_secrets;
use crate::monitoring::redaction;
use crate::system::environment::Chance;
use connecting::backoff;
use keepalive::{Keepalive, Verdict};
pub(super) use pausing::Pausing;
use published::Board;
use text::{crash_loop, panicked, restarted};

pub(super) struct Supervisor<C> {
    config: Arc<config::Upstream>,
    connector: C,
    board: Board,
    pausing: Pausing,
    commands: mpsc::Receiver<Command>,
    held: watch::Receiver<usize>,
    /// Counts how often the machine woke up.
    wakes: watch::Receiver<u64>,
    backoff: Backoff,
    crashes: CrashLoop,
    generation: u64,
    chance: Chance,
}

/// How a connection, or the attempt to make one, ended.
enum End {
    Failed(Failure),
    /// A person wants it made anew.
    Wished,
    /// The configuration leads elsewhere now.
    Turned,
    /// A person paused it.
    Paused,
    /// The application behind it is being restarted.
    Aside,
}

/// A bug must not become a busy loop.
const AFTER_A_PANIC: Duration = Duration::from_secs(1);
/// While somebody waits, an upstream on this machine is tried this often.
const WATCHED: Duration = Duration::from_millis(150);
/// How long all the lists of an upstream may take.
const LISTING_LIMIT: Duration = Duration::from_secs(10);
/// However often an upstream says that its lists changed, they are read once in this time.
const REFRESH_PAUSE: Duration = Duration::from_secs(1);

impl<C: Connect> Supervisor<C> {
    pub(super) fn new(
        config: Arc<config::Upstream>,
        connector: C,
        board: Board,
        commands: mpsc::Receiver<Command>,
        held: watch::Receiver<usize>,
        wakes: watch::Receiver<u64>,
        chance: Chance,
    ) -> Self {
        let backoff = backoff(&config);
        let crashes = CrashLoop::default();
        let pausing = Pausing { paused: board.paused.clone(), upstream: config.name.clone() };
        Self {
            config,
            connector,
            board,
            pausing,
            commands,
            held,
            wakes,
            backoff,
            crashes,
            generation: 0,
            chance,
        }
    }

    /// Runs for ever. A bug that makes it panic costs this upstream a second, and the others
    /// nothing.
    pub(super) async fn run(mut self) {
        while AssertUnwindSafe(self.keep_connected()).catch_unwind().await.is_err() {
            tracing::error!(upstream = %self.config.name, "the supervisor panicked and is started again");
            let (since, failure) = (self.chance.now(), panicked());
            self.went_down(&failure);
            let retry_at = since + AFTER_A_PANIC;
            let link = Link::Down { since, retry_at, attempts: 0, failure };
            self.board.set(State { link, known: self.board.known() });
            sleep(AFTER_A_PANIC).await;
        }
    }

    async fn keep_connected(&mut self) {
        let (mut attempt, mut since) = (0, self.chance.now());
        loop {
            if self.pausing.is_paused() {
                self.pause().await;
                (attempt, since) = (0, self.chance.now());
            }
            if *self.board.aside.borrow() {
                self.stand_aside().await;
                (attempt, since) = (0, self.chance.now());
                continue;
            }
            let began = Instant::now();
            let end = match self.connect().await {
                Ok((ready, incoming)) => {
                    let end = self.serve(&ready, incoming).await;
                    since = self.chance.now();
                    if began.elapsed() >= self.backoff.longest() {
                        attempt = 0;
                    }
                    end
                }
                Err(end) => end,
            };
            let failure = match end {
                End::Failed(failure) => {
                    let failure = redaction::of(failure);
                    self.went_down(&failure);
                    failure
                }
                End::Wished => restarted(),
                End::Turned | End::Paused | End::Aside => {
                    (attempt, since) = (0, self.chance.now());
                    continue;
                }
            };
            let looping = self.config.transport.is_process()
                && !is_about_secrets(failure.code)
                && self.crashes.ended(Instant::now().into_std(), began.elapsed());
            if attempt == 0 {
                tracing::warn!(upstream = %self.config.name, %failure, "upstream down");
            }
            attempt = match self.rest(attempt, since, failure, looping).await {
                Some(End::Turned | End::Paused | End::Aside) => 0,
                Some(End::Failed(_) | End::Wished) | None => attempt + 1,
            };
        }
    }

    fn went_down(&mut self, failure: &Failure) {
        self.board.chronicle.went_down(&self.config.title, failure, self.chance.now());
    }

    /// Watches a connection until it breaks, and says why it did.
    async fn serve(&mut self, ready: &Arc<Ready>, mut incoming: mpsc::Receiver<Incoming>) -> End {
        let mut keepalive = Keepalive::new(&self.config);
        let mut refresh_at = None;
        let mut heard = self.board.wanted.borrow_and_update().clone();
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
                    Incoming::Closed(failure) => return End::Failed(failure),
                    Incoming::Notification(told) => {
                        ready.heard_now();
                        if told.method.ends_with("/list_changed") {
                            refresh_at.get_or_insert(Instant::now() + REFRESH_PAUSE / 10);
                        } else {
                            self.board.news.publish(&self.board.lane, told);
                        }
                    }
                },
                command = self.commands.recv() => match command {
                    Some(Command::Broken { generation, failure }) if generation == ready.generation => {
                        return End::Failed(failure);
                    }
                    Some(Command::Broken { .. } | Command::IsThere) => {}
                    Some(Command::Configure(new)) if new.leads_elsewhere(&self.config) => {
                        let end = self.turn(new);
                        // A call under way keeps the old connection until it is answered.
                        if ready.in_flight() == 0 {
                            ready.connection.close().await;
                        }
                        return end;
                    }
                    Some(Command::Configure(new)) => {
                        self.config = new.settle();
                        keepalive = Keepalive::new(&self.config);
                    }
                    Some(Command::Restart) | None => {
                        ready.connection.close().await;
                        return End::Wished;
                    }
                },
                () = self.pausing.until(true) => {
                    // A call under way keeps the connection until it is answered.
                    if ready.in_flight() == 0 {
                        ready.connection.close().await;
                    }
                    return End::Paused;
                }
                () = stand_aside::until(&mut self.board.aside, true) => {
                    if ready.in_flight() == 0 {
                        ready.connection.close().await;
                    }
                    return End::Aside;
                }
                Ok(()) = self.wakes.changed() => keepalive.suspect(),
                Ok(()) = self.board.wanted.changed() => {
                    let now = self.board.wanted.borrow_and_update().clone();
                    ready.connection.hear_less(&heard, &now).await;
                    heard = now;
                }
                verdict = keepalive.watch(ready) => match verdict {
                    Verdict::Alive => self.show_stall(ready, None),
                    Verdict::Silent(failure) => self.show_stall(ready, Some(failure)),
                    Verdict::Dead(failure) => {
                        ready.abandon();
                        return End::Failed(failure);
                    }
                },
                () = refresh => {
                    refresh_at = None;
                    if let Some(failure) = self.refresh(ready).await {
                        return End::Failed(failure);
                    }
                }
            }
        }
    }

    /// Waits for the next attempt. A person's wish and a machine that wakes end the wait, and a
    /// held call shortens it. Says so if the next attempt leads elsewhere.
    async fn rest(
        &mut self,
        attempt: u32,
        since: SystemTime,
        failure: Failure,
        looping: bool,
    ) -> Option<End> {
        let wait = self.wait(attempt, failure.code, looping);
        let retry_at = self.chance.now() + wait;
        let failure = if looping { crash_loop(&failure) } else { failure };
        let link = Link::Down { since, retry_at, attempts: attempt, failure };
        self.board.set(State { link, known: self.board.known() });
        let began = Instant::now();
        loop {
            let watched =
                self.config.transport.is_local() && !looping && *self.held.borrow_and_update() > 0;
            let wait = if watched { wait.min(WATCHED) } else { wait };
            tokio::select! {
                biased;
                () = sleep(wait.saturating_sub(began.elapsed())) => return None,
                Ok(()) = self.held.changed() => {}
                Ok(()) = self.wakes.changed() => return None,
                () = self.pausing.until(true) => return Some(End::Paused),
                () = stand_aside::until(&mut self.board.aside, true) => return Some(End::Aside),
                Some(command) = self.commands.recv() => match command {
                    Command::Restart | Command::IsThere => return None,
                    Command::Configure(new) if new.leads_elsewhere(&self.config) => {
                        return Some(self.turn(new));
                    }
                    Command::Configure(new) => self.config = new.settle(),
                    Command::Broken { .. } => {}
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::transport::connection::Connected;
    use super::super::{Handle, Surroundings};
    use super::*;
    use evermoor_core::config::Config;
    use evermoor_core::failure::Code;
    use tokio_util::sync::CancellationToken;
    use tokio_util::task::TaskTracker;

    /// Panics at its first attempts, then refuses.
    struct Panics(u32);

    impl Connect for Panics {
        async fn connect(&mut self) -> Result<Connected, Failure> {
            self.0 = self.0.saturating_sub(1);
            assert_eq!(self.0, 0, "a bug");
            Err(Failure::new(Code::ConnectionRefused, "Nothing listens.", "Wait."))
        }
    }

    /// An upstream that connects like this.
    fn start(connector: impl Connect) -> Handle {
        let config = Config::default();
        let around = Surroundings {
            settings: watch::channel(config.gateway.clone()).1,
            changed: Arc::default(),
            wakes: watch::channel(0).1,
            chance: Chance::real(),
            tasks: TaskTracker::new(),
            news: crate::upstream::notification_log::Newsroom::default(),
            interests: crate::upstream::subscriptions::Interests::default(),
            history: crate::history::History::nowhere(),
            paused: watch::channel(evermoor_core::policy::pause::Paused::default()).1,
            apps: Default::default(),
            secrets: crate::config::secrets::Secrets::of_the_system(),
        };
        let upstream = config.upstreams[0].clone();
        Handle::start_with(upstream, connector, None, &around, CancellationToken::new())
    }

    impl Handle {
        /// An upstream that refuses every attempt.
        pub(crate) fn never_connected() -> Self {
            start(Panics(0))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_supervisor_that_panics_starts_over() {
        let handle = start(Panics(3));
        let mut state = handle.state.clone();
        for wanted in [Code::Internal, Code::ConnectionRefused] {
            let shown = state.wait_for(
                |state| matches!(&state.link, Link::Down { failure, .. } if failure.code == wanted),
            );
            shown.await.expect("the supervisor goes on");
        }
    }
}
