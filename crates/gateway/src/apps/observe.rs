//! Observes an application: gathers facts and derives its standing from them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::join_all;

use evermoor_core::policy::app::install;
use evermoor_core::policy::app::install::LaunchMethod;
use evermoor_core::policy::app::state::{AppHealth, AppObservation};
use evermoor_core::preset::{Preset, Probe};
use evermoor_platform::process::info;

use super::probe::{ProbeClient, ProbeReply};
use super::process::AppProcess;
use super::state::AppState;
use super::watcher::AppWatcher;
use super::{OS, port_finder};
use crate::upstream::{LinkState, LiveConnection, UpstreamHandle};

/// How long a health or version request may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// The standing of an application that was not found on any port.
pub(crate) async fn at_none(preset: &Arc<Preset>, app: &AppState) -> AppHealth {
    let running = processes(preset).await.first().map(|process| process.age);
    let seen = app.seen();
    let facts = AppObservation {
        installed: is_installed(preset),
        launching: seen.launching,
        // It answered before and still runs.
        silent: app.silent().filter(|_| running.is_some()),
        running,
        ended: seen.ended,
        ..AppObservation::default()
    };
    AppHealth::of(preset, &facts)
}

/// The standing of an application whose MCP server answers on this port, before any probe.
pub(crate) fn ready(preset: &Preset, port: u16) -> AppHealth {
    AppHealth::of(
        preset,
        &AppObservation { port: Some(port), answers_mcp: true, ..AppObservation::default() },
    )
}

/// The standing of an application that answers on this port while its MCP server does not.
pub(crate) fn half_up(preset: &Preset, port: u16) -> AppHealth {
    AppHealth::of(preset, &AppObservation { port: Some(port), ..AppObservation::default() })
}

/// Makes observations for a watcher.
pub(super) struct Observer {
    upstream: UpstreamHandle,
    preset: Arc<Preset>,
    app: Arc<AppState>,
    probe: ProbeClient,
}

pub(super) enum Observation {
    /// The supervisor is connected. `process` is set when the connection is new, and then holds the
    /// process behind it, if that is visible.
    Serving {
        health: AppHealth,
        version: Option<String>,
        ready: Arc<LiveConnection>,
        process: Option<Option<Box<AppProcess>>>,
    },
    /// The supervisor is not connected. The application may answer on a port; its standing is not
    /// determined every time.
    Away {
        found: Option<u16>,
        health: Option<AppHealth>,
    },
    Unknown,
}

impl Observer {
    /// `None` if no HTTP client can be created.
    pub(super) fn of(watcher: &AppWatcher) -> Option<Self> {
        let (preset, app) = (Arc::clone(&watcher.preset), Arc::clone(&watcher.app));
        let probe = watcher.context.apps.probe()?.clone();
        Some(Self { upstream: watcher.upstream.clone(), preset, app, probe })
    }

    /// Observes once. `known` is the generation of the connection whose process is already known.
    /// Probing ports is cheap; `scan` also lists all processes. The future can be dropped at any
    /// point.
    pub(super) async fn observe(&self, known: Option<u64>, scan: bool) -> Observation {
        match self.upstream.state().link {
            LinkState::Ready(ready) => {
                let Some(port) = self.app.seen().port else { return Observation::Unknown };
                let process = match known == Some(ready.generation()) {
                    true => None,
                    false => Some(AppProcess::behind(port).await.map(Box::new)),
                };
                let (health, version) = self.at(port, ready.silent_for()).await;
                Observation::Serving { health, version, ready, process }
            }
            LinkState::Connecting | LinkState::Down { .. } => {
                let found = port_finder::find(&self.preset, &self.probe).next().await;
                let health = match found {
                    Some(port) => {
                        self.app.found(port);
                        Some(half_up(&self.preset, port))
                    }
                    None if scan => Some(at_none(&self.preset, &self.app).await),
                    None => None,
                };
                Observation::Away { found, health }
            }
            LinkState::Paused { .. } => Observation::Unknown,
        }
    }

    /// The standing and the version of an application whose MCP server answers on this port.
    async fn at(&self, port: u16, silent: Duration) -> (AppHealth, Option<String>) {
        let (preset, probe) = (&self.preset, &self.probe);
        let health = async { answer(probe, port, preset.health.as_ref()?).await };
        let version = async {
            let check = preset.version.as_ref()?;
            let (status, body) = answer(probe, port, &check.ask).await?;
            Some(check.read(status, &body))
        };
        let tells = preset.tells.iter().map(async |tell| {
            let (status, body) = answer(probe, port, &tell.ask).await?;
            Some(tell.ask.expect.says(status, &body))
        });
        let (health, version, conditions) = tokio::join!(health, version, join_all(tells));
        let answered =
            health.is_some() || version.is_some() || conditions.iter().any(Option::is_some);
        if answered {
            self.app.found(port);
        }
        let is_asked =
            preset.health.is_some() || preset.version.is_some() || !conditions.is_empty();
        // An answer over MCP counts, too.
        let silent = self.app.silent().map(|long| long.min(silent)).filter(|_| is_asked);
        let version = version.flatten();
        let facts = AppObservation {
            port: Some(port),
            answers_mcp: true,
            silent,
            version: version.clone(),
            conditions: conditions.into_iter().map(Option::flatten).collect(),
            ..AppObservation::default()
        };
        (AppHealth::of(preset, &facts), version)
    }
}

async fn answer(probe: &ProbeClient, port: u16, ask: &Probe) -> Option<(u16, bytes::Bytes)> {
    match probe.send(port, ask, PROBE_TIMEOUT).await {
        ProbeReply::Answer { status, body } => Some((status, body)),
        ProbeReply::NoReply | ProbeReply::NotConnected => None,
    }
}

/// Its processes, oldest first.
pub(super) async fn processes(preset: &Arc<Preset>) -> Vec<info::ProcessInfo> {
    let preset = Arc::clone(preset);
    let mut found = info::find_by_name(move |name| preset.owns_process(OS, name)).await;
    found.sort_by_key(|process| std::cmp::Reverse(process.age));
    found
}

/// Whether it is installed; `None` if that cannot be determined.
fn is_installed(preset: &Preset) -> Option<bool> {
    let Some(on) = preset.on(OS) else { return Some(false) };
    let markers = install::install_markers(OS, on, variable);
    if markers.is_empty() {
        return None;
    }
    Some(markers.iter().any(|marker| Path::new(&marker.path).exists()))
}

/// The ways to launch it, best first.
pub(super) fn launch_methods(preset: &Preset, executable: Option<&Path>) -> Vec<LaunchMethod> {
    let Some(on) = preset.on(OS) else { return Vec::new() };
    let there = install::install_markers(OS, on, variable).into_iter();
    let there = there.filter(|marker| Path::new(&marker.path).exists());
    let found = there.filter_map(|marker| marker.launch_method).collect();
    install::launch_methods(OS, on, found, executable.and_then(Path::to_str))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
