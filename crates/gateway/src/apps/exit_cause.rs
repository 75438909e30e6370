//! Finds out why an application exited.
//!
//! The exit status may say enough at once. The system takes a few seconds to write crash reports, so
//! the search is repeated for a while, and a more detailed verdict can follow the first.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc;
use tokio::time::sleep;

use evermoor_core::history::incident;
use evermoor_core::policy::app::evidence;
use evermoor_core::policy::app::evidence::{CrashReport, ExitCause, ExitDiagnosis, ExitEvidence};
use evermoor_core::policy::app::{AppRun, command};
use evermoor_core::preset::{Os, Preset};
use evermoor_platform::crash_reports;
use evermoor_platform::process::child::ProcessExit;
use evermoor_platform::process::run;
use evermoor_platform::system::System;

use super::OS;
use crate::system::exit;

/// An exit, as the watcher observed it.
pub(super) struct ObservedExit {
    pub(super) run: AppRun,
    pub(super) exit: ProcessExit,
    pub(super) at: SystemTime,
    /// It was asked to quit, by or through Evermoor.
    pub(super) asked: bool,
    /// It had stopped responding before.
    pub(super) hung: bool,
    /// How long it had run.
    pub(super) lived: Duration,
}

/// What was found out about an exit.
pub(super) struct ExitVerdict {
    pub(super) run: AppRun,
    pub(super) at: SystemTime,
    pub(super) lived: Duration,
    pub(super) verdict: ExitDiagnosis,
    /// This is the first verdict, on which the policy decides.
    pub(super) first: bool,
}

/// The wait before each search for reports.
const REPORT_SEARCHES: [Duration; 4] =
    [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(6)];
const COMMAND_TIMEOUT: Duration = Duration::from_secs(3);
const MAX_REPORTS: usize = 8;
/// Reports this old at the exit may still be about it.
const REPORT_WINDOW: Duration = Duration::from_secs(120);

/// Sends the first verdict, and each later one that differs.
pub(super) async fn find_out(
    preset: Arc<Preset>,
    end: ObservedExit,
    verdicts: mpsc::Sender<ExitVerdict>,
) {
    let mut sent: Option<ExitDiagnosis> = None;
    for (search, wait) in REPORT_SEARCHES.into_iter().enumerate() {
        sleep(wait).await;
        let is_last = search + 1 == REPORT_SEARCHES.len();
        let verdict = judge(&preset, &end, is_last).await;
        // Later searches may find more, so an unknown cause is only reported by the last one.
        let is_final = is_last || verdict.cause != ExitCause::Unknown;
        if !is_final || sent.as_ref() == Some(&verdict) {
            continue;
        }
        let (first, done) = (sent.is_none(), !verdict.top.is_empty());
        sent = Some(verdict.clone());
        let (run, at, lived) = (end.run, end.at, end.lived);
        if verdicts.send(ExitVerdict { run, at, lived, verdict, first }).await.is_err() || done {
            return;
        }
    }
}

async fn judge(preset: &Preset, end: &ObservedExit, is_last: bool) -> ExitDiagnosis {
    let names = preset.on(OS).map_or(&[][..], |on| on.crash_names());
    let reports = find_reports(names, end.at).await;
    evidence::diagnose(&ExitEvidence {
        os: OS,
        pid: end.run.pid,
        names,
        at: end.at,
        exit: exit::evidence_of(end.exit),
        reports: &reports,
        would_be_reported: is_last && crash_reports::are_available(),
        asked: end.asked,
        hung: end.hung,
    })
}

/// The reports that the system wrote at about this time.
async fn find_reports(names: &[String], at: SystemTime) -> Vec<CrashReport> {
    let since = at - REPORT_WINDOW;
    if OS == Os::Linux {
        let seconds = since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let found = match output_of(&command::journal(seconds)).await {
            Some(text) => evidence::journal(&text),
            None => Vec::new(),
        };
        if !found.is_empty() {
            return found;
        }
        return match output_of(&command::coredumps(seconds)).await {
            Some(text) => evidence::coredumps(&text),
            None => Vec::new(),
        };
    }
    let names = names.to_vec();
    let reading = tokio::task::spawn_blocking(move || {
        let folders = crash_reports::folders(System::HERE, |name| std::env::var_os(name));
        let wanted = |file: &str| evidence::is_report(OS, &names, file);
        let found = crash_reports::newest(&folders, wanted, since, MAX_REPORTS);
        found.iter().flat_map(|report| evidence::read(OS, &report.bytes)).collect()
    });
    reading.await.unwrap_or_default()
}

async fn output_of(line: &command::CommandLine) -> Option<String> {
    run::output(&line.program, &line.args, COMMAND_TIMEOUT)
        .await
        .filter(|output| output.success)
        .map(|it| it.output)
}

/// The verdict on an application that runs but does not answer.
pub(super) fn hung() -> ExitDiagnosis {
    let evidence = "It runs but has not answered for some time.".to_owned();
    ExitDiagnosis { cause: ExitCause::Hung, evidence: vec![evidence], top: Vec::new() }
}

/// A verdict in the form that the history records.
pub(super) fn incident_cause(title: &str, verdict: &ExitDiagnosis) -> incident::IncidentCause {
    let excerpt = verdict.top.join("\n");
    let source = verdict.evidence.join(" ");
    incident::IncidentCause {
        what: verdict.cause.sentence(title),
        evidence: Some(incident::Evidence { source, excerpt }),
    }
}
