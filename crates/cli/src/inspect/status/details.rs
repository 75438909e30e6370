//! Shows everything about one upstream.

use evermoor_core::api::{AppStatus, UpstreamState, UpstreamStatus};
use evermoor_core::history::incident::text::{format_duration, format_memory};
use evermoor_platform::clock;

use super::{account, mark, notes, show_dimmed};
use crate::terminal::{self, Palette};

pub(super) fn show(upstream: &UpstreamStatus) {
    let (colours, now) = (Palette::for_output(), clock::unix_millis());
    let (mark, style) = mark(upstream, colours);
    let strong = colours.strong;
    let title = terminal::fit(&upstream.title, terminal::width().saturating_sub(2));
    terminal::print(&format_args!("{style}{mark}{style:#} {strong}{title}{strong:#}"));
    for note in notes(upstream) {
        show_dimmed(&note, 2, colours);
    }
    terminal::print(&"");
    let known = facts(upstream, now).into_iter();
    let known = known.chain(upstream.app.iter().flat_map(about_app));
    let rows: Vec<Vec<String>> =
        known.map(|(name, value)| vec![format!("  {name}"), value]).collect();
    for line in terminal::columns(&rows, terminal::width()) {
        terminal::print(&line);
    }
}

fn facts(upstream: &UpstreamStatus, now: u64) -> Vec<(&'static str, String)> {
    let ago = |since: u64| format_duration(now.saturating_sub(since));
    let mut facts = match &upstream.link {
        UpstreamState::Off | UpstreamState::Connecting => {
            vec![("State", upstream.word().to_owned())]
        }
        UpstreamState::Connected { since, server } => {
            vec![("State", format!("Connected for {}", ago(*since))), ("Server", server.clone())]
        }
        UpstreamState::Down { since, retry_at, attempts, .. } => {
            let next = format_duration(retry_at.saturating_sub(now));
            vec![
                ("State", format!("{} for {}", upstream.word(), ago(*since))),
                ("Attempts", format!("{attempts}, next in {next}")),
            ]
        }
        UpstreamState::Paused { since } => vec![("State", format!("Paused for {}", ago(*since)))],
    };
    facts.extend(account(upstream).map(|account| ("Account", account.to_owned())));
    facts.extend([
        ("Name", upstream.name.clone()),
        ("Tools", upstream.tool_count()),
        ("Target", upstream.target.clone()),
        ("Endpoint", upstream.endpoint.clone()),
    ]);
    facts
}

fn about_app(app: &AppStatus) -> Vec<(&'static str, String)> {
    let known = [
        ("Version", app.version.clone()),
        ("Port", app.port.map(|port| port.to_string())),
        ("Process", app.pid.map(|pid| pid.to_string())),
        ("Memory", app.memory.map(format_memory)),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
