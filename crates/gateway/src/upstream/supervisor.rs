//! The task that owns one upstream.
//!
//! # Theory of operation
//! Three states, each a function: *connect* makes a connection and reads what the upstream offers;
//! *serve* watches it until it breaks; *rest* waits for the next attempt. The loop never ends: no
//! number of failures makes an upstream dead for good. The wait grows while attempts fail and
//! starts over after a connection that lived. While a call is held, the wait is short.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep};
use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::backoff::Backoff;
use evermoor_core::config;
use evermoor_core::failure::{Code, Failure};

use super::http::{Clients, HttpConnection};
use super::{Command, Known, Link, Ready, State, listing, tripwire};
use crate::demo;

pub(super) struct Supervisor {
    config: Arc<config::Upstream>,
    board: Board,
    commands: mpsc::Receiver<Command>,
    held: watch::Receiver<usize>,
    backoff: Backoff,
    generation: u64,
    /// Kept for as long as the demo server is to run.
    demo: Option<demo::Server>,
    tasks: TaskTracker,
}

/// Where the state is shown.
pub(super) struct Board {
    pub(super) show: watch::Sender<State>,
    pub(super) changed: Arc<Notify>,
}

/// While somebody waits, an upstream on this machine is tried this often.
const WATCHED: Duration = Duration::from_millis(150);

impl Supervisor {
    pub(super) fn new(
        config: Arc<config::Upstream>,
        board: Board,
        commands: mpsc::Receiver<Command>,
        held: watch::Receiver<usize>,
        tasks: TaskTracker,
    ) -> Self {
        let backoff = if config.transport.is_local() { Backoff::LOCAL } else { Backoff::REMOTE };
        Self { config, board, commands, held, backoff, generation: 0, demo: None, tasks }
    }

    pub(super) async fn run(mut self) {
        let (mut attempt, mut since) = (0, SystemTime::now());
        loop {
            let failure = match self.connect().await {
                Ok(ready) => {
                    let began = Instant::now();
                    let failure = self.serve(ready).await;
                    since = SystemTime::now();
                    if began.elapsed() >= self.backoff.longest() {
                        attempt = 0;
                    }
                    failure
                }
                Err(failure) => failure,
            };
            tracing::warn!(upstream = %self.config.name, attempt, %failure, "upstream down");
            self.rest(attempt, since, failure).await;
            attempt += 1;
        }
    }

    async fn connect(&mut self) -> Result<Arc<Ready>, Failure> {
        let url = self.url().await?;
        let local = self.config.transport.is_local();
        let clients = Clients::new(local).map_err(|error| {
            Failure::new(Code::Internal, format!("No HTTP client: {error}."), "Report this.")
        })?;
        let (connection, handshake) =
            HttpConnection::open(clients, url, self.tasks.clone()).await?;
        let catalog = listing::catalog(&connection, &handshake).await?;
        self.generation += 1;
        tracing::info!(
            upstream = %self.config.name,
            server = %handshake.server.name,
            tools = catalog.tools.len(),
            "upstream connected"
        );
        let ready = Ready { since: SystemTime::now(), generation: self.generation, connection };
        let ready = Arc::new(ready);
        let known = Some(Arc::new(Known { handshake, catalog }));
        self.board.set(State { link: Link::Ready(Arc::clone(&ready)), known });
        Ok(ready)
    }

    /// The address of the upstream. The demo server has one once it runs.
    async fn url(&mut self) -> Result<Url, Failure> {
        match &self.config.transport {
            config::Transport::Http { url } => Ok(url.clone()),
            config::Transport::Demo => {
                let server =
                    demo::Server::start("127.0.0.1:0", &self.tasks).await.map_err(|error| {
                        let what = format!("The demo server cannot listen: {error}.");
                        Failure::new(Code::Internal, what, "Restart Evermoor.")
                    })?;
                let url = server.url();
                self.demo = Some(server);
                Ok(url)
            }
        }
    }

    /// Watches a connection until it breaks, and says why it did.
    async fn serve(&mut self, ready: Arc<Ready>) -> Failure {
        let url = ready.connection.url().clone();
        let local = self.config.transport.is_local();
        let watched = async {
            if local { tripwire::tripped(&url).await } else { std::future::pending().await }
        };
        tokio::pin!(watched);
        loop {
            tokio::select! {
                () = &mut watched => return gone(&url),
                command = self.commands.recv() => match command {
                    Some(Command::Broken { generation, failure }) if generation == ready.generation => {
                        return failure;
                    }
                    Some(Command::Broken { .. }) => {}
                    Some(Command::Restart) => return restarted(),
                    None => std::future::pending().await,
                },
            }
        }
    }

    /// Waits for the next attempt. A person's wish ends the wait, and a held call shortens it.
    async fn rest(&mut self, attempt: u32, since: SystemTime, failure: Failure) {
        // A connection that just broke is worth one attempt at once.
        let wait = match attempt {
            0 => Duration::ZERO,
            _ => self.backoff.wait(attempt - 1, getrandom::u32().unwrap_or(u32::MAX)),
        };
        let retry_at = SystemTime::now() + wait;
        let link = Link::Down { since, retry_at, attempts: attempt, failure };
        self.board.set(State { link, known: self.board.known() });
        let began = Instant::now();
        loop {
            let watched = self.config.transport.is_local() && *self.held.borrow_and_update() > 0;
            let wait = if watched { wait.min(WATCHED) } else { wait };
            tokio::select! {
                () = sleep(wait.saturating_sub(began.elapsed())) => return,
                Ok(()) = self.held.changed() => {}
                Some(command) = self.commands.recv() => match command {
                    Command::Restart => return,
                    Command::Broken { .. } => {}
                },
            }
        }
    }
}

impl Board {
    fn set(&self, state: State) {
        self.show.send_replace(state);
        self.changed.notify_one();
    }

    fn known(&self) -> Option<Arc<Known>> {
        self.show.borrow().known.clone()
    }
}

fn gone(url: &Url) -> Failure {
    let place = url.authority();
    Failure::new(
        Code::ConnectionRefused,
        format!("Nothing listens at {place}."),
        "Start the server; Evermoor reconnects by itself.",
    )
}

fn restarted() -> Failure {
    Failure::new(Code::ConnectionLost, "The connection is being made anew.", "Wait a moment.")
}
