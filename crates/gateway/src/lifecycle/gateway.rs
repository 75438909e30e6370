//! A gateway: starts, serves and stops.
//!
//! # Theory of operation
//! It starts alone, or takes over from a running gateway ([`crate::lifecycle::takeover`]). It
//! serves until it is stopped or hands over to another gateway ([`crate::lifecycle::handover`]).
//! [`crate::lifecycle::shutdown`] then lets calls in flight finish.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use evermoor_core::config::Config;
use evermoor_core::lifecycle::runtime::RuntimeFile;
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::ipc::handover::HandoverListener;
use evermoor_platform::ipc::local_socket::LocalListener;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::child::orphans;

use crate::lifecycle::assembly::{Assembly, AssemblyInput};
use crate::lifecycle::handover;
use crate::lifecycle::handover::{HandoverRequest, SuccessorLine};
use crate::lifecycle::shutdown;
use crate::lifecycle::takeover;
use crate::lifecycle::takeover::{CurrentGateway, TakenOver, TakeoverTerms};
use crate::server::bind;
use crate::server::bind::StoredListener;
use crate::server::serve_error::ServeError;
use crate::system::keys;
use crate::system::keys::KeyError;
use crate::system::write_lease::WriteLease;

/// A gateway that has the lock and the port.
pub struct Gateway {
    listener: TcpListener,
    lock: InstanceLock,
    /// Where another gateway can request a handover; `None` if that cannot be opened.
    handover_listener: Option<HandoverListener>,
    /// Where stdio shims connect; `None` if they have to use HTTP.
    shim_socket: Option<LocalListener>,
    assembly: Assembly,
    runtime: RuntimeFile,
    paths: Paths,
    stop: CancellationToken,
}

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
        let stored = StoredListener::take();
        let started = Self::start_at(&stored, lock, config, paths, stop).await;
        started.inspect_err(|_| stored.close_waiting())
    }

    async fn start_at(
        stored: &StoredListener,
        lock: InstanceLock,
        config: Config,
        paths: Paths,
        stop: CancellationToken,
    ) -> Result<Self, ServeError> {
        prepare_process().await;
        // A killed gateway may have left its runtime file, which must not be mistaken for ours.
        let _ = std::fs::remove_file(paths.runtime_file());
        let (tokens, key) = (keys::tokens(&paths)?, keys::session_key(&paths)?);
        let listener = bind::listen_or_inherit(&paths, stored, config.gateway.listen).await?;
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
        let handover_listener = bind::open_handover_listener(&paths);
        // Shims look for it once the gateway is announced.
        let shim_socket = bind::open_shim_socket(&paths);
        bind::announce(&paths, &runtime)?;
        Ok(Self { listener, lock, handover_listener, shim_socket, assembly, runtime, paths, stop })
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
        // The same token as before, unless the user rotated it: open dashboards stay connected.
        let runtime = bind::runtime(old.origin.clone(), keys::control_token(&paths)?);
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
            Ok(TakenOver { listener, lock, handover_listener, shim_socket }) => {
                tracing::info!(from = old.pid, old.version, took = ?began.elapsed(), "taken over");
                Ok(Self {
                    listener,
                    lock,
                    handover_listener,
                    shim_socket,
                    assembly,
                    runtime,
                    paths,
                    stop,
                })
            }
            Err(error) => {
                // Let the child processes that were started exit cleanly.
                stop.cancel();
                assembly.ended(shutdown::TIMEOUT).await;
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
            Some(successor) => {
                self.shim_socket.iter_mut().for_each(LocalListener::disown);
                drop((self.handover_listener, self.shim_socket, self.listener, self.lock));
                shutdown::after_handover(self.assembly, successor, self.stop).await;
            }
            None => {
                drop((self.handover_listener, self.shim_socket, self.listener));
                shutdown::stop(self.assembly, &self.paths).await;
            }
        }
    }

    /// Serves. Returns the connection to the successor, if the gateway was taken over.
    async fn serve(&mut self) -> Option<SuccessorLine> {
        loop {
            let requested = tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                requested = handover::requested(self.handover_listener.as_mut(), &self.listener) => requested,
                never = self.assembly.connections.accept_from(&self.listener) => match never {},
                never = self.assembly.shims.accept_from(self.shim_socket.as_ref()) => match never {},
            };
            // A stop at this moment waits until it is clear which gateway serves.
            if let Some(line) = self.give(requested).await {
                return Some(line);
            }
        }
    }

    /// Hands over to another gateway, or keeps serving if that fails.
    async fn give(&mut self, requested: HandoverRequest) -> Option<SuccessorLine> {
        let (pid, version) = (requested.pid, requested.version.clone());
        tracing::info!(pid, version, "another gateway requests a handover");
        let shim_socket = self.shim_socket.as_ref();
        match requested.give(&self.listener, &self.lock, shim_socket, &self.assembly).await {
            Ok(line) => {
                tracing::info!(pid, version, "handed over");
                return Some(line);
            }
            Err(error) => {
                tracing::warn!(pid, version, %error, "the handover failed; serving continues")
            }
        }
        // The other gateway may already have replaced our files.
        self.assembly.lease.grant();
        while self.assembly.queued_handover_items.try_recv().is_ok() {}
        self.assembly.endpoint.sessions.rewrite();
        if let Err(error) = bind::announce(&self.paths, &self.runtime) {
            tracing::warn!(%error, "other Evermoor programs may not find this gateway");
        }
        self.handover_listener = None;
        self.handover_listener = bind::open_handover_listener(&self.paths);
        if !self.shim_socket.as_ref().is_some_and(LocalListener::is_in_place) {
            self.shim_socket = bind::open_shim_socket(&self.paths);
        }
        None
    }
}

async fn prepare_process() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let left = orphans::end().await;
    if left > 0 {
        tracing::info!(processes = left, "ended processes that a killed gateway left behind");
    }
}
