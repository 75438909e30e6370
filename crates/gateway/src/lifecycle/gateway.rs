//! A gateway: starts, serves and stops.
//!
//! # Theory of operation
//! It starts alone, or takes over from a running gateway ([`crate::lifecycle::takeover`]). When it is
//! stopped, calls in flight have ten seconds to finish. When another gateway has taken over
//! ([`crate::lifecycle::handover`]), they have two minutes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::config::Config;
use evermoor_core::lifecycle::runtime::RuntimeFile;
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::handover::{HandoverConnection, HandoverListener};
use evermoor_platform::paths::Paths;
use evermoor_platform::process::child::orphans;

use crate::lifecycle::assembly::{Assembly, AssemblyInput};
use crate::lifecycle::handover;
use crate::lifecycle::handover::HandoverRequest;
use crate::lifecycle::takeover;
use crate::lifecycle::takeover::{CurrentGateway, TakeoverTerms};
use crate::server::bind;
use crate::server::serve_error::ServeError;
use crate::system::keys;
use crate::system::keys::KeyError;
use crate::system::write_lease::WriteLease;

/// A gateway that has the lock and the port.
pub struct Gateway {
    listener: TcpListener,
    lock: InstanceLock,
    /// Where another gateway can request a handover; `None` if that cannot be opened.
    stand: Option<HandoverListener>,
    assembly: Assembly,
    runtime: RuntimeFile,
    paths: Paths,
    stop: CancellationToken,
}

/// How long calls in flight may take when the gateway is stopped.
const DRAIN: Duration = Duration::from_secs(10);
/// How long they may take when another gateway already serves.
const HANDOVER_DRAIN: Duration = Duration::from_secs(120);
/// How long the shutdown may take once no call is in flight. A child process may need five seconds.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(6);
/// How long upstreams may take to connect before the takeover begins.
const WARM_UP: Duration = Duration::from_secs(5);

impl Gateway {
    /// Takes the lock and the port, and connects to the upstreams.
    pub async fn start(
        config: Config,
        paths: Paths,
        stop: CancellationToken,
    ) -> Result<Self, ServeError> {
        let lock = bind::take_lock(&paths).await?;
        Self::start_with(lock, config, paths, stop).await
    }

    async fn start_with(
        lock: InstanceLock,
        config: Config,
        paths: Paths,
        stop: CancellationToken,
    ) -> Result<Self, ServeError> {
        prepare_process().await;
        // A killed gateway may have left its runtime file, which must not be mistaken for ours.
        let _ = std::fs::remove_file(paths.runtime_file());
        let (tokens, key) = (keys::tokens(&paths)?, keys::session_key(&paths)?);
        let listener = bind::listen(config.gateway.listen).await?;
        let address = listener.local_addr().unwrap_or(config.gateway.listen);
        let control_token = keys::control_token(&paths)?;
        let runtime = bind::runtime(format!("http://{address}"), control_token.clone());
        let (lease, assembly_paths, assembly_stop) =
            (WriteLease::new(true), paths.clone(), stop.clone());
        let assembly = Assembly::start(AssemblyInput {
            config,
            paths: assembly_paths,
            tokens,
            key,
            control_token,
            address,
            lease,
            stop: assembly_stop,
        })
        .await?;
        assembly.endpoint.sessions.load();
        let stand = bind::open_stand(&paths);
        bind::announce(&paths, &runtime)?;
        Ok(Self { listener, lock, stand, assembly, runtime, paths, stop })
    }

    /// Takes over from the running gateway, or starts alone if there is none. After an error the
    /// other gateway serves as before.
    pub async fn take_over(
        config: Config,
        paths: Paths,
        stop: CancellationToken,
        terms: TakeoverTerms,
    ) -> Result<Self, ServeError> {
        let running = match takeover::find(&paths, terms).await? {
            CurrentGateway::None(lock) => return Self::start_with(lock, config, paths, stop).await,
            CurrentGateway::Running(running) => running,
        };
        prepare_process().await;
        let (tokens, key) = (keys::tokens(&paths)?, keys::session_key(&paths)?);
        let old = running.runtime.clone();
        // Keep the control token, so that open dashboards stay connected.
        let runtime = bind::runtime(old.origin.clone(), old.control_token);
        let address = old.origin.trim_start_matches("http://").parse();
        let plan = AssemblyInput {
            address: address.unwrap_or(config.gateway.listen),
            config,
            paths: paths.clone(),
            tokens,
            key,
            control_token: runtime.control_token.clone(),
            lease: WriteLease::new(false),
            stop: stop.clone(),
        };
        let assembly = Assembly::start(plan).await?;
        assembly.warmed_up(WARM_UP).await;
        let announcement = bind::prepare(&paths, &runtime);
        let began = Instant::now();
        let moved = match announcement {
            Ok(announcement) => takeover::move_in(running, &assembly, announcement, &paths).await,
            Err(error) => Err(error),
        };
        match moved {
            Ok((listener, lock, stand)) => {
                tracing::info!(from = old.pid, old.version, took = ?began.elapsed(), "taken over");
                Ok(Self { listener, lock, stand, assembly, runtime, paths, stop })
            }
            Err(error) => {
                // Let the child processes that were started exit cleanly.
                stop.cancel();
                assembly.ended(SHUTDOWN_TIMEOUT).await;
                Err(error)
            }
        }
    }

    /// A one-time link to the dashboard.
    pub fn dashboard_link(&self) -> Result<String, KeyError> {
        self.assembly.control.links.make()
    }

    /// Cancelled if the gateway should be started again after it ends.
    pub fn again(&self) -> CancellationToken {
        self.assembly.control.again.clone()
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is stopped or taken over, then lets calls in flight finish.
    pub async fn run(mut self) {
        match self.serve().await {
            Some(line) => self.leave(line).await,
            None => self.end().await,
        }
    }

    /// Serves. Returns the connection to the successor, if the gateway was taken over.
    async fn serve(&mut self) -> Option<HandoverConnection> {
        loop {
            let requested = tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                requested = handover::requested(self.stand.as_mut()) => requested,
                never = self.assembly.connections.accept_from(&self.listener) => match never {},
            };
            // A stop at this moment waits until it is clear which gateway serves.
            if let Some(line) = self.give(requested).await {
                return Some(line);
            }
        }
    }

    /// Hands over to another gateway, or keeps serving if that fails.
    async fn give(&mut self, requested: HandoverRequest) -> Option<HandoverConnection> {
        let (pid, version) = (requested.pid, requested.version.clone());
        tracing::info!(pid, version, "another gateway requests a handover");
        match requested.give(&self.listener, &self.lock, &self.assembly).await {
            Ok(line) => {
                tracing::info!(pid, version, "handed over");
                return Some(line);
            }
            Err(error) => {
                tracing::warn!(pid, version, %error, "the handover failed; serving continues")
            }
        }
        // The other gateway may already have replaced our files.
        if let Err(error) = self.lock.take_back() {
            tracing::warn!(%error, "cannot take the lock back");
        }
        self.assembly.lease.grant();
        while self.assembly.queued_handover_items.try_recv().is_ok() {}
        self.assembly.endpoint.sessions.rewrite();
        if let Err(error) = bind::announce(&self.paths, &self.runtime) {
            tracing::warn!(%error, "other Evermoor programs may not find this gateway");
        }
        self.stand = None;
        self.stand = bind::open_stand(&self.paths);
        None
    }

    /// Stops: accepts no new connections and lets calls in flight finish.
    async fn end(self) {
        drop((self.stand, self.listener));
        if timeout(DRAIN, self.assembly.answered()).await.is_err() {
            self.assembly.give_up().await;
        }
        self.assembly.ended(SHUTDOWN_TIMEOUT).await;
        let _ = std::fs::remove_file(self.paths.runtime_file());
    }

    /// Finishes the calls in flight after another gateway has taken over.
    async fn leave(mut self, line: HandoverConnection) {
        drop((self.stand, self.listener, self.lock));
        let (done, handover_task) = (CancellationToken::new(), TaskTracker::new());
        let queued_handover_items =
            std::mem::replace(&mut self.assembly.queued_handover_items, mpsc::channel(1).1);
        let endpoint = Arc::clone(&self.assembly.endpoint);
        handover_task.spawn(handover::attend(line, queued_handover_items, endpoint, done.clone()));
        handover_task.close();
        self.assembly.moved.cancel();
        let stopped = async {
            self.stop.cancelled().await;
            sleep(DRAIN).await;
        };
        tokio::select! {
            () = self.assembly.answered() => {}
            () = stopped => self.assembly.give_up().await,
            () = sleep(HANDOVER_DRAIN) => self.assembly.give_up().await,
        }
        done.cancel();
        let _ = timeout(SHUTDOWN_TIMEOUT, handover_task.wait()).await;
        self.stop.cancel();
        self.assembly.ended(SHUTDOWN_TIMEOUT).await;
        tracing::info!("all calls are finished; the handover is complete");
    }
}

async fn prepare_process() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let left = orphans::end().await;
    if left > 0 {
        tracing::info!(processes = left, "ended processes that a killed gateway left behind");
    }
}
