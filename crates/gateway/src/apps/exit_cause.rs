//! Finding out why an application ended.
//!
//! How its process ended may say enough at once. What the system writes down about it takes a few
//! seconds, so its reports are looked for again and again for a while, and a verdict that says more
//! follows the first.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc;
use tokio::time::sleep;

use evermoor_core::history::incident;
use evermoor_core::policy::app::evidence;
use evermoor_core::policy::app::evidence::{Cause, Ending, Report, Verdict};
use evermoor_core::policy::app::{Run, command};
use evermoor_core::preset::{Os, Preset};
use evermoor_platform::crash_reports;
use evermoor_platform::process::child::Exit;
use evermoor_platform::process::run;
use evermoor_platform::system::System;

use super::OS;
use crate::system::exit;

/// An end, as it was seen.
pub(super) struct End {
    pub(super) run: Run,
    pub(super) exit: Exit,
    pub(super) at: SystemTime,
    /// It was asked to end, by Evermoor or through it.
    pub(super) asked: bool,
    /// It had stopped answering before.
    pub(super) hung: bool,
    /// For how long it had run.
    pub(super) lived: Duration,
}

/// What was found out about an end.
pub(super) struct Judged {
    pub(super) run: Run,
    pub(super) at: SystemTime,
    pub(super) lived: Duration,
    pub(super) verdict: Verdict,
    /// Nothing was known before; what to do about it is decided now.
    pub(super) first: bool,
}

/// When reports are looked for, after one another.
const LOOKS: [Duration; 4] =
    [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(6)];
const ASKING: Duration = Duration::from_secs(3);
const MOST_REPORTS: usize = 8;
/// Reports of this long before the end may be about it.
const BEFORE: Duration = Duration::from_secs(120);

/// Finds out, and tells each verdict that says more than the one before.
pub(super) async fn find_out(preset: Arc<Preset>, end: End, judged: mpsc::Sender<Judged>) {
    let mut told: Option<Verdict> = None;
    for (look, wait) in LOOKS.into_iter().enumerate() {
        sleep(wait).await;
        let is_last = look + 1 == LOOKS.len();
        let verdict = judge(&preset, &end, is_last).await;
        // Who will know more in a moment does not say that nothing is known.
        let is_sure = is_last || verdict.cause != Cause::Unknown;
        if !is_sure || told.as_ref() == Some(&verdict) {
            continue;
        }
        let (first, done) = (told.is_none(), !verdict.top.is_empty());
        told = Some(verdict.clone());
        let (run, at, lived) = (end.run, end.at, end.lived);
        if judged.send(Judged { run, at, lived, verdict, first }).await.is_err() || done {
            return;
        }
    }
}

async fn judge(preset: &Preset, end: &End, is_last: bool) -> Verdict {
    let names = preset.on(OS).map_or(&[][..], |on| on.crash_names());
    let reports = written(names, end.at).await;
    evidence::judge(&Ending {
        os: OS,
        pid: end.run.pid,
        names,
        at: end.at,
        exit: exit::said(end.exit),
        reports: &reports,
        would_be_reported: is_last && crash_reports::are_written(),
        asked: end.asked,
        hung: end.hung,
    })
}

/// What the system wrote down at about this time.
async fn written(names: &[String], at: SystemTime) -> Vec<Report> {
    let since = at - BEFORE;
    if OS == Os::Linux {
        let seconds = since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let found = match said(&command::journal(seconds)).await {
            Some(text) => evidence::journal(&text),
            None => Vec::new(),
        };
        if !found.is_empty() {
            return found;
        }
        return match said(&command::coredumps(seconds)).await {
            Some(text) => evidence::coredumps(&text),
            None => Vec::new(),
        };
    }
    let names = names.to_vec();
    let reading = tokio::task::spawn_blocking(move || {
        let folders = crash_reports::folders(System::HERE, |name| std::env::var_os(name));
        let wanted = |file: &str| evidence::is_report(OS, &names, file);
        let found = crash_reports::newest(&folders, wanted, since, MOST_REPORTS);
        found.iter().flat_map(|report| evidence::read(OS, &report.bytes)).collect()
    });
    reading.await.unwrap_or_default()
}

async fn said(line: &command::CommandLine) -> Option<String> {
    run::said(&line.program, &line.args, ASKING).await.filter(|said| said.good).map(|it| it.output)
}

/// It runs, and answers nothing.
pub(super) fn hung() -> Verdict {
    let said = "It runs, and has answered nothing for some time.".to_owned();
    Verdict { cause: Cause::Hung, evidence: vec![said], top: Vec::new() }
}

/// A verdict as the record keeps it.
pub(super) fn for_the_record(title: &str, verdict: &Verdict) -> incident::Cause {
    let excerpt = verdict.top.join("\n");
    let source = verdict.evidence.join(" ");
    incident::Cause {
        what: verdict.cause.sentence(title),
        evidence: Some(incident::Evidence { source, excerpt }),
    }
}
