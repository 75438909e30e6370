//! A gateway from its start to its end.
//!
//! # Theory of operation
//! It starts where nobody serves, or takes the place of one that does ([`crate::lifecycle::takeover`]). It ends
//! when it is told to stop, after ten seconds at most for the calls that are under way; or when it
//! has given its place away ([`crate::lifecycle::handover`]), after two minutes at most.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::config::Config;
use evermoor_core::lifecycle::runtime::Runtime;
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::handover::{Line, Stand};
use evermoor_platform::paths::Paths;
use evermoor_platform::process::child::orphans;

use crate::lifecycle::assembly::{Assembly, AssemblyInput};
use crate::lifecycle::bind;
use crate::lifecycle::handover;
use crate::lifecycle::handover::HandoverRequest;
use crate::lifecycle::keys;
use crate::lifecycle::keys::KeyError;
use crate::lifecycle::start_error::StartError;
use crate::lifecycle::takeover;
use crate::lifecycle::takeover::{CurrentGateway, Terms};
use crate::system::write_lease::Pen;

/// A gateway that listens.
pub struct Gateway {
    listener: TcpListener,
    lock: InstanceLock,
    /// Where another gateway can ask for our place; without it, ours cannot be taken over.
    stand: Option<Stand>,
    assembly: Assembly,
    runtime: Runtime,
    paths: Paths,
    stop: CancellationToken,
}

/// How long calls under way may take to end when the gateway is stopped.
const DRAIN: Duration = Duration::from_secs(10);
/// How long they may take when another gateway serves already.
const HANDOVER_DRAIN: Duration = Duration::from_secs(120);
/// How long everything may take to end once no call is under way. A program may need five seconds.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(6);
/// How long upstreams are tried before the gateway that runs is disturbed.
const WARM_UP: Duration = Duration::from_secs(5);

impl Gateway {
    /// Takes the lock and the port, and connects to the upstreams.
    pub async fn start(
        config: Config,
        paths: Paths,
        stop: CancellationToken,
    ) -> Result<Self, StartError> {
        let lock = bind::take_lock(&paths).await?;
        Self::start_with(lock, config, paths, stop).await
    }

    async fn start_with(
        lock: InstanceLock,
        config: Config,
        paths: Paths,
        stop: CancellationToken,
    ) -> Result<Self, StartError> {
        prepare_process().await;
        // What a killed gateway left behind must not be taken for ours while we start.
        let _ = std::fs::remove_file(paths.runtime_file());
        let (tokens, key) = (keys::tokens(&paths)?, keys::session_key(&paths)?);
        let listener = bind::listen(config.gateway.listen).await?;
        let address = listener.local_addr().unwrap_or(config.gateway.listen);
        let control_token = keys::control_token(&paths)?;
        let runtime = bind::runtime(format!("http://{address}"), control_token.clone());
        let (pen, paths_inside, stop_inside) = (Pen::new(true), paths.clone(), stop.clone());
        let assembly = Assembly::start(AssemblyInput {
            config,
            paths: paths_inside,
            tokens,
            key,
            control_token,
            address,
            pen,
            stop: stop_inside,
        })
        .await?;
        assembly.endpoint.sessions.recall();
        let stand = bind::open_stand(&paths);
        bind::announce(&paths, &runtime)?;
        Ok(Self { listener, lock, stand, assembly, runtime, paths, stop })
    }

    /// Takes the place of the gateway that runs, or serves if none does. An error leaves the other
    /// one serving as before.
    pub async fn take_over(
        config: Config,
        paths: Paths,
        stop: CancellationToken,
        terms: Terms,
    ) -> Result<Self, StartError> {
        let running = match takeover::find(&paths, terms).await? {
            CurrentGateway::None(lock) => return Self::start_with(lock, config, paths, stop).await,
            CurrentGateway::Running(running) => running,
        };
        prepare_process().await;
        let (tokens, key) = (keys::tokens(&paths)?, keys::session_key(&paths)?);
        let old = running.runtime.clone();
        // The same token, so that a dashboard that is open goes on.
        let runtime = bind::runtime(old.origin.clone(), old.control_token);
        let address = old.origin.trim_start_matches("http://").parse();
        let plan = AssemblyInput {
            address: address.unwrap_or(config.gateway.listen),
            config,
            paths: paths.clone(),
            tokens,
            key,
            control_token: runtime.control_token.clone(),
            pen: Pen::new(false),
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
                // The upstreams' programs that were started for nothing end as they should.
                stop.cancel();
                assembly.ended(SHUTDOWN_TIMEOUT).await;
                Err(error)
            }
        }
    }

    /// A link that opens the dashboard once.
    pub fn dashboard_link(&self) -> Result<String, KeyError> {
        self.assembly.control.links.make()
    }

    /// Cancelled if it is to begin anew after its end.
    pub fn again(&self) -> CancellationToken {
        self.assembly.control.again.clone()
    }

    /// Where it listens.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until told to stop or taken over, then lets calls under way end.
    pub async fn run(mut self) {
        match self.serve().await {
            Some(line) => self.leave(line).await,
            None => self.end().await,
        }
    }

    /// Serves. Returns the line to the gateway that has taken over, if one has.
    async fn serve(&mut self) -> Option<Line> {
        loop {
            let requested = tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                requested = handover::requested(self.stand.as_mut()) => requested,
                never = self.assembly.reception.accept_from(&self.listener) => match never {},
            };
            // Whoever is told to stop in this moment must first know whose the place is.
            if let Some(line) = self.give(requested).await {
                return Some(line);
            }
        }
    }

    /// Gives our place away, or makes it ours again.
    async fn give(&mut self, requested: HandoverRequest) -> Option<Line> {
        let (pid, version) = (requested.pid, requested.version.clone());
        tracing::info!(pid, version, "another gateway asks for our place");
        match requested.give(&self.listener, &self.lock, &self.assembly).await {
            Ok(line) => {
                tracing::info!(pid, version, "another gateway serves now");
                return Some(line);
            }
            Err(error) => tracing::warn!(pid, version, %error, "our place was not taken"),
        }
        // It may have come so far as to put its own things where ours were.
        if let Err(error) = self.lock.take_back() {
            tracing::warn!(%error, "the lock was not taken back");
        }
        self.assembly.pen.grant();
        while self.assembly.parcels.try_recv().is_ok() {}
        self.assembly.endpoint.sessions.write_again();
        if let Err(error) = bind::announce(&self.paths, &self.runtime) {
            tracing::warn!(%error, "our tools may not find us");
        }
        self.stand = None;
        self.stand = bind::open_stand(&self.paths);
        None
    }

    /// Stops: no new connections, and what is under way has a moment.
    async fn end(self) {
        drop((self.stand, self.listener));
        if timeout(DRAIN, self.assembly.answered()).await.is_err() {
            self.assembly.give_up().await;
        }
        self.assembly.ended(SHUTDOWN_TIMEOUT).await;
        let _ = std::fs::remove_file(self.paths.runtime_file());
    }

    /// Leaves the place to another gateway and finishes what is under way.
    async fn leave(mut self, line: Line) {
        drop((self.stand, self.listener, self.lock));
        let (done, handover_task) = (CancellationToken::new(), TaskTracker::new());
        let parcels = std::mem::replace(&mut self.assembly.parcels, mpsc::channel(1).1);
        let endpoint = Arc::clone(&self.assembly.endpoint);
        handover_task.spawn(handover::attend(line, parcels, endpoint, done.clone()));
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
        tracing::info!("everything has moved");
    }
}

async fn prepare_process() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let left = orphans::end().await;
    if left > 0 {
        tracing::info!(processes = left, "what a killed gateway left behind was ended");
    }
}
