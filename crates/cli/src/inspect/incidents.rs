//! `evermoor incidents`: lists outages, or prints a report about them.

use evermoor_client::{ControlClient, ControlError};
use evermoor_core::api::Status;
use evermoor_core::failure::Failure;
use evermoor_core::history::incident::report;
use evermoor_core::history::incident::report::ReportEnvironment;
use evermoor_core::history::incident::text::{format_duration, format_time};
use evermoor_core::history::incident::{AffectedCalls, Incident};
use evermoor_core::security::personal_names::PrivateNames;
use evermoor_platform::clock;
use evermoor_platform::paths::Paths;
use evermoor_platform::system::machine::{self, LocalUser};

use crate::exit::Exit;
use crate::runtime::run_async;
use crate::servers::lookup;
use crate::terminal::{self, Palette};

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    Table,
    Json,
    Markdown,
}

impl OutputFormat {
    pub(crate) fn of(json: bool, markdown: bool) -> Self {
        match (json, markdown) {
            (true, _) => Self::Json,
            (false, true) => Self::Markdown,
            (false, false) => Self::Table,
        }
    }
}

pub(crate) fn run(
    paths: &Paths,
    upstream: Option<&str>,
    period: u64,
    format: OutputFormat,
) -> Exit {
    let Some(control) = ControlClient::find(paths) else {
        return Exit::not_running();
    };
    let now = clock::unix_millis();
    let found = run_async(look_up(&control, upstream, now.saturating_sub(period)));
    let (status, incidents) = match found {
        Ok(Ok(found)) => found,
        Ok(Err(failure)) => return Exit::failed(&failure),
        Err(error) => return Exit::failure(&error),
    };
    match format {
        OutputFormat::Table => show(&incidents, period, now),
        OutputFormat::Json => {
            terminal::print_json(serde_json::json!({ "incidents": incidents }));
        }
        OutputFormat::Markdown => {
            let system = run_async(machine::describe_system()).unwrap_or_default();
            let environment = ReportEnvironment::of(&status, upstream, &incidents, system);
            let text = report::markdown(&environment, &incidents, Some(period), now);
            let LocalUser { home, user, machine } = LocalUser::here();
            terminal::print(&PrivateNames { home, user, machine }.remove_from(text.trim_end()));
        }
    }
    Exit::Ok
}

async fn look_up(
    control: &ControlClient,
    upstream: Option<&str>,
    since: u64,
) -> Result<(Status, Vec<Incident>), Failure> {
    let asked = async {
        let status = control.status().await?;
        Ok::<_, ControlError>((status, control.incidents(upstream, since).await?))
    };
    let (status, incidents) = asked.await?;
    let known = |name: &str| status.upstreams.iter().any(|one| one.name == name);
    match upstream {
        // A server with incidents may have been removed from the configuration since.
        Some(name) if incidents.is_empty() && !known(name) => {
            Err(lookup::unknown(name, status.upstreams.iter().map(|one| one.name.as_str())))
        }
        Some(_) | None => Ok((status, incidents)),
    }
}

fn show(incidents: &[Incident], period: u64, now: u64) {
    let colours = Palette::for_output();
    let strong = colours.strong;
    let summary = report::summary(incidents, Some(period), now);
    let width = terminal::width();
    let summary = terminal::indented(&summary, 0, width);
    terminal::print(&format_args!("{strong}{summary}{strong:#}"));
    let rows: Vec<Vec<String>> = incidents.iter().map(|incident| row(incident, now)).collect();
    if !rows.is_empty() {
        terminal::print(&"");
    }
    for (line, incident) in terminal::columns(&rows, width.saturating_sub(4)).iter().zip(incidents)
    {
        let (mark, style) = match incident.end {
            Some(_) => ("●", colours.quiet),
            None => ("○", colours.bad),
        };
        terminal::print(&format_args!("  {style}{mark}{style:#} {line}"));
        let quiet = colours.quiet;
        let why = terminal::indented(incident.why(), 4, width);
        terminal::print(&format_args!("{quiet}{why}{quiet:#}"));
    }
}

fn row(incident: &Incident, now: u64) -> Vec<String> {
    let lasted = format_duration(incident.lasted(now));
    let lasted = if incident.end.is_some() { lasted } else { format!("{lasted} so far") };
    vec![incident.upstream.clone(), format_time(incident.began), lasted, calls(&incident.calls)]
}

fn calls(calls: &AffectedCalls) -> String {
    let AffectedCalls { held, answered, unknown, not_sent } = calls;
    let counts =
        [(held, "held"), (answered, "answered"), (unknown, "unknown"), (not_sent, "not sent")];
    let counts = counts.iter().filter(|(number, _)| **number > 0);
    let counts: Vec<String> = counts.map(|(number, what)| format!("{number} {what}")).collect();
    if counts.is_empty() { "no calls".to_owned() } else { counts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counts_above_zero_are_shown() {
        assert_eq!(calls(&AffectedCalls::default()), "no calls");
        let some = AffectedCalls { held: 2, answered: 1, unknown: 0, not_sent: 1 };
        assert_eq!(calls(&some), "2 held, 1 answered, 1 not sent");
    }
}
