//! A look at an application: the facts of this moment, and how it stands by them.

use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;

use evermoor_core::app::place::{self, Place};
use evermoor_core::app::state::{Facts, Standing};
use evermoor_core::preset::{Ask, Preset};
use evermoor_platform::facts;

use super::OS;
use super::asking::{Asker, Said};
use super::desk::Desk;

/// How long it may take to tell something of itself.
const TELLING: Duration = Duration::from_secs(3);

/// How it stands, now that it was not found at any port.
pub(crate) fn at_none(preset: &Preset, desk: &Desk) -> Standing {
    let running = processes(preset).first().map(|process| process.age);
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

/// How it stands, now that it answers at this port and its MCP server does not.
pub(crate) fn half_up(preset: &Preset, port: u16) -> Standing {
    Standing::of(preset, &Facts { port: Some(port), ..Facts::default() })
}

/// How it stands, now that its MCP server answers at this port, and its version.
pub(super) async fn at(
    preset: &Preset,
    asker: &Asker,
    port: u16,
    silent: Duration,
    desk: &Desk,
) -> (Standing, Option<String>) {
    let version = async {
        let check = preset.version.as_ref()?;
        let (status, body) = answer(asker, port, &check.ask).await?;
        check.read(status, &body)
    };
    let tells = preset.tells.iter().map(async |tell| {
        let (status, body) = answer(asker, port, &tell.ask).await?;
        tell.ask.expect.says(status, &body)
    });
    let (version, told) = tokio::join!(version, join_all(tells));
    if version.is_some() || told.iter().any(Option::is_some) {
        desk.found(port);
    }
    let facts = Facts {
        port: Some(port),
        serves: true,
        // A sign of life over MCP is one, too.
        silent: desk.silent().map(|long| long.min(silent)),
        version: version.clone(),
        told,
        ..Facts::default()
    };
    (Standing::of(preset, &facts), version)
}

async fn answer(asker: &Asker, port: u16, ask: &Ask) -> Option<(u16, bytes::Bytes)> {
    match asker.ask(port, ask, TELLING).await {
        Said::Answer { status, body } => Some((status, body)),
        Said::Nothing | Said::NotAsked => None,
    }
}

/// Its processes, the oldest first.
pub(super) fn processes(preset: &Preset) -> Vec<facts::Facts> {
    let mut found = facts::named(|name| preset.is_process(OS, name));
    found.sort_by_key(|process| std::cmp::Reverse(process.age));
    found
}

/// Whether it is on this machine; `None` where that cannot be told.
fn is_installed(preset: &Preset) -> Option<bool> {
    let Some(on) = preset.on(OS) else { return Some(false) };
    let signs = place::signs(OS, on, variable);
    if signs.is_empty() {
        return None;
    }
    Some(signs.iter().any(|sign| Path::new(&sign.path).exists()))
}

/// The ways to launch it, the best first.
pub(super) fn ways(preset: &Preset, executable: Option<&Path>) -> Vec<Place> {
    let Some(on) = preset.on(OS) else { return Vec::new() };
    let there = place::signs(OS, on, variable).into_iter();
    let there = there.filter(|sign| Path::new(&sign.path).exists());
    let found = there.filter_map(|sign| sign.place).collect();
    place::ways(OS, on, found, executable.and_then(Path::to_str))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
