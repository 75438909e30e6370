//! A Markdown report about outages, ready to paste into a bug tracker. What servers and crash reports
//! say is shown as text, never as markup.

use std::fmt::Write as _;

use super::text::{count, format_duration, format_memory, format_time};
use super::{AffectedCalls, Incident};
use crate::api::{Status, UpstreamState};
use crate::security::foreign_text;

/// The environment that a report describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportEnvironment {
    /// The version of Evermoor.
    pub evermoor: String,
    /// The operating system, with its version if known.
    pub system: String,
    /// The upstreams concerned: display name and the server's name for itself.
    pub upstreams: Vec<(String, String)>,
}

impl ReportEnvironment {
    /// The environment of these outages: the upstream `asked` for, or all that had an outage.
    pub fn of(
        status: &Status,
        asked: Option<&str>,
        incidents: &[Incident],
        system: String,
    ) -> Self {
        let wanted = |name: &str| match asked {
            Some(asked) => asked == name,
            None => incidents.iter().any(|incident| incident.upstream == name),
        };
        let upstreams = status.upstreams.iter().filter(|upstream| wanted(&upstream.name));
        let upstreams = upstreams.map(|upstream| {
            let server = match &upstream.link {
                UpstreamState::Connected { server, .. } => server.clone(),
                UpstreamState::Off
                | UpstreamState::Connecting
                | UpstreamState::Down { .. }
                | UpstreamState::Paused { .. } => String::new(),
            };
            (upstream.title.clone(), server)
        });
        Self { evermoor: status.version.clone(), system, upstreams: upstreams.collect() }
    }
}

/// How many lines of a crash report are included.
const EXCERPT_LINES: usize = 40;

/// The report about these outages, newest first. `period` is the period that was searched.
pub fn markdown(
    environment: &ReportEnvironment,
    incidents: &[Incident],
    period: Option<u64>,
    now: u64,
) -> String {
    let mut text = String::new();
    let names: Vec<String> = environment.upstreams.iter().map(|(title, _)| line(title)).collect();
    let of = if names.is_empty() { String::new() } else { format!(" of {}", names.join(", ")) };
    let _ = writeln!(text, "# Outages{of}\n");
    let _ = writeln!(text, "{}\n", summary(incidents, period, now));
    let _ = writeln!(text, "## Environment\n");
    let _ = writeln!(text, "- Evermoor {}", environment.evermoor);
    let _ = writeln!(text, "- {}", environment.system);
    for (title, server) in environment.upstreams.iter().filter(|(_, server)| !server.is_empty()) {
        let _ = writeln!(text, "- {}: {}", line(title), line(server));
    }
    if incidents.is_empty() {
        return text;
    }
    let _ = writeln!(text, "\n## Overview\n");
    let _ = writeln!(
        text,
        "| started | what | duration | memory | uptime | held | answered | unknown | not sent |"
    );
    let _ = writeln!(text, "|---|---|---|---|---|---|---|---|---|");
    for incident in incidents {
        let _ = writeln!(text, "{}", row(incident, now));
    }
    for incident in incidents {
        text += &section(incident, now);
    }
    text
}

/// A summary: how many outages, how long they lasted, and what happened to the calls.
pub fn summary(incidents: &[Incident], period: Option<u64>, now: u64) -> String {
    let when =
        period.map_or(String::new(), |period| format!(" in the last {}", format_duration(period)));
    if incidents.is_empty() {
        return format!("No outages{when}.");
    }
    let total = incidents.iter().map(|incident| incident.lasted(now)).sum();
    let longest = incidents.iter().map(|incident| incident.lasted(now)).max().unwrap_or_default();
    let calls = total_calls(incidents);
    let ongoing = incidents.iter().filter(|incident| incident.end.is_none()).count();
    let ongoing = match ongoing {
        0 => String::new(),
        _ => format!(" {ongoing} still ongoing."),
    };
    format!(
        "{}{when}, {} in total, the longest {}.{ongoing} {} waited: {} answered by the server, {} \
         returned unsent. For {}, it is unknown whether {} ran.",
        count(incidents.len() as u64, "outage", "outages"),
        format_duration(total),
        format_duration(longest),
        count(calls.held, "call", "calls"),
        calls.answered,
        calls.not_sent,
        count(calls.unknown, "call", "calls"),
        if calls.unknown == 1 { "it" } else { "they" },
    )
}

/// The affected calls of all incidents.
pub fn total_calls(incidents: &[Incident]) -> AffectedCalls {
    incidents.iter().fold(AffectedCalls::default(), |sum, Incident { calls, .. }| AffectedCalls {
        held: sum.held + calls.held,
        answered: sum.answered + calls.answered,
        unknown: sum.unknown + calls.unknown,
        not_sent: sum.not_sent + calls.not_sent,
    })
}

fn row(incident: &Incident, now: u64) -> String {
    let AffectedCalls { held, answered, unknown, not_sent } = incident.calls;
    let what = line(&format!("{}: {}", incident.title, incident.why()));
    let memory = incident.memory.map_or("".into(), format_memory);
    let uptime = incident.uptime.map_or("".into(), format_duration);
    format!(
        "| {} | {what} | {} | {memory} | {uptime} | {held} | {answered} | {unknown} | {not_sent} |",
        format_time(incident.began),
        lasted(incident, now),
    )
}

fn lasted(incident: &Incident, now: u64) -> String {
    let length = format_duration(incident.lasted(now));
    if incident.end.is_some() { length } else { format!("{length} so far") }
}

fn section(incident: &Incident, now: u64) -> String {
    let mut text = format!("\n## {}, {}\n\n", format_time(incident.began), line(&incident.title));
    let _ = writeln!(text, "- {} **{}**", format_time(incident.began), line(&incident.sign.what));
    for event in &incident.events {
        let _ = writeln!(text, "- {} {}", format_time(event.at), line(&event.what));
    }
    match incident.end {
        Some(end) => {
            let _ = writeln!(
                text,
                "- {} **{}** ({})",
                format_time(end.at),
                end.how.sentence(),
                format_duration(incident.lasted(now))
            );
        }
        None => {
            let _ = writeln!(text, "- Ongoing.");
        }
    }
    if incident.unwatched > 0 {
        let _ = writeln!(
            text,
            "\nFor {} of it, no gateway was running, so nothing was recorded.",
            format_duration(incident.unwatched)
        );
    }
    if let Some(cause) = &incident.cause {
        let _ = writeln!(text, "\nCause: {}", line(&cause.what));
        if let Some(evidence) = &cause.evidence {
            let source = line(&evidence.source);
            let _ = match evidence.excerpt.trim().is_empty() {
                true => writeln!(text, "\n{source}"),
                false => {
                    let source = source.trim_end_matches('.');
                    writeln!(text, "\n{source}:\n\n{}", fenced(&evidence.excerpt))
                }
            };
        }
    }
    text
}

/// A text as one line of Markdown, also in a table cell.
fn line(text: &str) -> String {
    foreign_text::markdown(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A code block with a fence that the excerpt cannot close.
fn fenced(excerpt: &str) -> String {
    let excerpt = foreign_text::lines(excerpt);
    let longest = excerpt.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let top: Vec<&str> = excerpt.lines().take(EXCERPT_LINES).collect();
    format!("{fence}text\n{}\n{fence}", top.join("\n"))
}

#[cfg(test)]
mod tests;
