//! Applications that host an upstream and that Evermoor did not start.
//!
//! # Theory of operation
//! An upstream with a preset is an application. Its supervisor keeps the connection, as for any
//! upstream; its connector locates the application for each connection ([`port_finder`], [`App`]).
//! Beside it runs an [`AppWatcher`]: it watches the process, observes its health ([`observe`],
//! [`probe`]), tells the supervisor when the application is back, finds out why it exited
//! ([`exit_cause`]), and restarts it ([`restart`]). Both share an [`AppState`], which users see.
//! `evermoor_core::policy::app` decides what to do; this folder does it.
//!
//! # Layout
//! - [`port_finder`]: finds the application; [`app`]: the application as its connector sees it
//! - [`watcher`]: the task that watches it; [`state`]: what is known about it
//! - [`observe`], [`probe`], [`process`]: its health, its HTTP probes, its process
//! - [`exit_cause`]: why it exited; [`restart`]: restarts it; [`restart_records`]: how often
//!
//! Uses `upstream` (handles and links), `history` and `system`. `config`, `lifecycle`, `server` and
//! the connectors of `upstream` use it.

mod app;
mod exit_cause;
pub(crate) mod observe;
pub(crate) mod port_finder;
mod probe;
mod process;
mod restart;
mod restart_records;
pub(crate) mod state;
mod watcher;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::config::TransportConfig;
use evermoor_core::failure::Failure;
use evermoor_core::preset::{Preset, PresetSet};

use crate::history::History;
use crate::system::clock::ClockAndRandom;
pub(crate) use crate::system::exit::OS;
use crate::upstream::UpstreamHandle;
pub(crate) use app::App;
pub(crate) use probe::ProbeClient;
pub use restart_records::RestartRecords;
pub(crate) use state::AppState;
use watcher::AppWatcher;

/// The presets, and the state of each application.
#[derive(Clone)]
pub struct Apps(Arc<AppsState>);

struct AppsState {
    preset_set: watch::Receiver<Arc<PresetSet>>,
    states: Mutex<BTreeMap<UpstreamName, Arc<AppState>>>,
    /// Created on first use; `None` if that fails.
    probe: OnceLock<Option<ProbeClient>>,
}

/// What a watcher needs from the rest of the gateway.
#[derive(Clone)]
pub struct WatcherContext {
    pub apps: Apps,
    pub history: History,
    pub restart_records: Arc<RestartRecords>,
    /// Notified when something that users see has changed.
    pub changed: Arc<Notify>,
    /// Counts how often the machine woke up.
    pub wakes: watch::Receiver<u64>,
    pub clock: ClockAndRandom,
    pub tasks: TaskTracker,
}

impl Apps {
    pub fn new(preset_set: watch::Receiver<Arc<PresetSet>>) -> Self {
        Self(Arc::new(AppsState { preset_set, states: Mutex::default(), probe: OnceLock::new() }))
    }

    /// The state of the application behind an upstream.
    pub(crate) fn app_state(&self, upstream: &UpstreamName) -> Arc<AppState> {
        let mut states = self.0.states.lock();
        Arc::clone(states.entry(upstream.clone()).or_insert_with(|| Arc::new(AppState::new())))
    }

    /// The application behind an upstream, for its connector.
    pub(crate) fn of(&self, upstream: &UpstreamName) -> App {
        App { apps: self.clone(), app: self.app_state(upstream) }
    }

    pub(crate) fn preset(&self, name: &str) -> Result<Arc<Preset>, Failure> {
        self.0.preset_set.borrow().get(name).cloned().map(Arc::new)
    }

    pub(crate) fn probe(&self) -> Option<&ProbeClient> {
        self.0.probe.get_or_init(ProbeClient::new).as_ref()
    }
}

impl Default for Apps {
    /// Applications of the built-in presets only.
    fn default() -> Self {
        Self::new(watch::channel(Arc::new(PresetSet::bundled())).1)
    }
}

/// An application with a running watcher, which stops when this is dropped.
struct WatchedApp {
    upstream: UpstreamHandle,
    preset: Arc<Preset>,
    stop: CancellationToken,
}

/// Runs a watcher for every application among the upstreams, as the configuration and the presets
/// change.
pub async fn run_watchers(
    context: WatcherContext,
    mut upstreams: watch::Receiver<Arc<[UpstreamHandle]>>,
) {
    let mut watched: Vec<WatchedApp> = Vec::new();
    let mut preset_set = context.apps.0.preset_set.clone();
    loop {
        let wanted = wanted(&context.apps, &upstreams.borrow_and_update());
        let unchanged = |one: &WatchedApp| {
            wanted.iter().any(|(upstream, preset)| {
                Arc::ptr_eq(&upstream.config, &one.upstream.config) && *preset == one.preset
            })
        };
        watched.retain(unchanged);
        for (upstream, preset) in wanted {
            if watched.iter().any(|one| one.upstream.name() == upstream.name()) {
                continue;
            }
            let stop = CancellationToken::new();
            let watcher = AppWatcher::new(upstream.clone(), Arc::clone(&preset), context.clone());
            context.tasks.spawn(stop.clone().run_until_cancelled_owned(watcher.run()));
            watched.push(WatchedApp { upstream, preset, stop });
        }
        tokio::select! {
            changed = upstreams.changed() => if changed.is_err() { return },
            Ok(()) = preset_set.changed() => {}
        }
    }
}

impl Drop for WatchedApp {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn wanted(apps: &Apps, upstreams: &[UpstreamHandle]) -> Vec<(UpstreamHandle, Arc<Preset>)> {
    let app = |upstream: &UpstreamHandle| match &upstream.config.transport {
        TransportConfig::App { preset } => Some((upstream.clone(), apps.preset(preset).ok()?)),
        TransportConfig::Http { .. } | TransportConfig::Stdio(_) | TransportConfig::Demo => None,
    };
    upstreams.iter().filter_map(app).collect()
}
