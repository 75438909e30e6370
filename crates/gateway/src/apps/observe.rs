//! A look at an application: the facts of this moment, and how it stands by them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::join_all;

use evermoor_core::policy::app::install;
use evermoor_core::policy::app::install::Place;
use evermoor_core::policy::app::state::{Facts, Standing};
use evermoor_core::preset::{Ask, Preset};
use evermoor_platform::process::info;

use super::probe::{Asker, Said};
use super::process::Process;
use super::state::Desk;
use super::watcher::Minder;
use super::{OS, finder};
use crate::upstream::{Handle, Link, Ready};

/// How long it may take to tell something of itself.
const TELLING: Duration = Duration::from_secs(3);

/// How it stands, now that it was not found at any port.
pub(crate) async fn at_none(preset: &Arc<Preset>, desk: &Desk) -> Standing {
    let running = processes(preset).await.first().map(|process| process.age);
    let seen = desk.seen();
    let facts = Facts {
        installed: is_installed(preset),
        launching: seen.launching,
        // It answered before, and still runs.
        silent: desk.silent().filter(|_| running.is_some()),
        running,
        ended: seen.ended,
        ..Facts::default()
    };
    Standing::of(preset, &facts)
}

/// How it stands, now that its MCP server answers at this port and it has told nothing of itself.
pub(crate) fn ready(preset: &Preset, port: u16) -> Standing {
    Standing::of(preset, &Facts { port: Some(port), serves: true, ..Facts::default() })
}

/// How it stands, now that it answers at this port and its MCP server does not.
pub(crate) fn half_up(preset: &Preset, port: u16) -> Standing {
    Standing::of(preset, &Facts { port: Some(port), ..Facts::default() })
}

/// What it takes to look.
pub(super) struct Eyes {
    upstream: Handle,
    preset: Arc<Preset>,
    desk: Arc<Desk>,
    asker: Asker,
}

/// What a look came to.
pub(super) enum Look {
    /// It serves over this connection. The process behind a connection that is another than before
    /// comes along, if it can be seen.
    Serves {
        standing: Standing,
        version: Option<String>,
        ready: Arc<Ready>,
        met: Option<Option<Box<Process>>>,
    },
    /// It does not serve; it may answer at a port. How it stands is not found out at every look.
    Away {
        found: Option<u16>,
        standing: Option<Standing>,
    },
    Nothing,
}

impl Eyes {
    /// `None` if this machine cannot ask anything.
    pub(super) fn of(minder: &Minder) -> Option<Self> {
        let (preset, desk) = (Arc::clone(&minder.preset), Arc::clone(&minder.desk));
        let asker = minder.around.apps.asker()?.clone();
        Some(Self { upstream: minder.upstream.clone(), preset, desk, asker })
    }

    /// Looks at it, whose process was met over the connection of this number. It may be dropped at
    /// any moment. Its ports cost little; `thorough` is a look through all processes, too.
    pub(super) async fn look(&self, met: Option<u64>, thorough: bool) -> Look {
        match self.upstream.state().link {
            Link::Ready(ready) => {
                let Some(port) = self.desk.seen().port else { return Look::Nothing };
                let met = match met == Some(ready.generation()) {
                    true => None,
                    false => Some(Process::behind(port).await.map(Box::new)),
                };
                let (standing, version) = self.at(port, ready.silent_for()).await;
                Look::Serves { standing, version, ready, met }
            }
            Link::Connecting | Link::Down { .. } => {
                let found = finder::find(&self.preset, &self.asker).next().await;
                let standing = match found {
                    Some(port) => {
                        self.desk.found(port);
                        Some(half_up(&self.preset, port))
                    }
                    None if thorough => Some(at_none(&self.preset, &self.desk).await),
                    None => None,
                };
                Look::Away { found, standing }
            }
            Link::Paused { .. } => Look::Nothing,
        }
    }

    /// How it stands, now that its MCP server answers at this port, and its version.
    async fn at(&self, port: u16, silent: Duration) -> (Standing, Option<String>) {
        let (preset, asker) = (&self.preset, &self.asker);
        let health = async { answer(asker, port, preset.health.as_ref()?).await };
        let version = async {
            let check = preset.version.as_ref()?;
            let (status, body) = answer(asker, port, &check.ask).await?;
            Some(check.read(status, &body))
        };
        let tells = preset.tells.iter().map(async |tell| {
            let (status, body) = answer(asker, port, &tell.ask).await?;
            Some(tell.ask.expect.says(status, &body))
        });
        let (health, version, told) = tokio::join!(health, version, join_all(tells));
        let answered = health.is_some() || version.is_some() || told.iter().any(Option::is_some);
        if answered {
            self.desk.found(port);
        }
        let is_asked = preset.health.is_some() || preset.version.is_some() || !told.is_empty();
        // A sign of life over MCP is one, too.
        let silent = self.desk.silent().map(|long| long.min(silent)).filter(|_| is_asked);
        let version = version.flatten();
        let facts = Facts {
            port: Some(port),
            serves: true,
            silent,
            version: version.clone(),
            told: told.into_iter().map(Option::flatten).collect(),
            ..Facts::default()
        };
        (Standing::of(preset, &facts), version)
    }
}

async fn answer(asker: &Asker, port: u16, ask: &Ask) -> Option<(u16, bytes::Bytes)> {
    match asker.ask(port, ask, TELLING).await {
        Said::Answer { status, body } => Some((status, body)),
        Said::Nothing | Said::NotAsked => None,
    }
}

/// Its processes, the oldest first.
pub(super) async fn processes(preset: &Arc<Preset>) -> Vec<info::Facts> {
    let preset = Arc::clone(preset);
    let mut found = info::named(move |name| preset.is_process(OS, name)).await;
    found.sort_by_key(|process| std::cmp::Reverse(process.age));
    found
}

/// Whether it is on this machine; `None` where that cannot be told.
fn is_installed(preset: &Preset) -> Option<bool> {
    let Some(on) = preset.on(OS) else { return Some(false) };
    let signs = install::signs(OS, on, variable);
    if signs.is_empty() {
        return None;
    }
    Some(signs.iter().any(|sign| Path::new(&sign.path).exists()))
}

/// The ways to launch it, the best first.
pub(super) fn ways(preset: &Preset, executable: Option<&Path>) -> Vec<Place> {
    let Some(on) = preset.on(OS) else { return Vec::new() };
    let there = install::signs(OS, on, variable).into_iter();
    let there = there.filter(|sign| Path::new(&sign.path).exists());
    let found = there.filter_map(|sign| sign.place).collect();
    install::ways(OS, on, found, executable.and_then(Path::to_str))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
