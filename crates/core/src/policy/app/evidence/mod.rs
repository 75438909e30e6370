//! Why a process exited, from its exit status and the reports of the operating system.
//!
//! A crash, a quit, a hang and an out-of-memory kill need different responses. Each system leaves
//! its own evidence: macOS `.ips` files, Linux the journal, Windows the folders of Windows Error
//! Reporting. `exit` reads the exit status; `linux`, `macos` and `windows` read reports. The
//! parsers tolerate missing and unknown fields. If the evidence is inconclusive, the cause is
//! unknown.

mod exit;
mod linux;
mod macos;
#[cfg(test)]
mod tests;
mod windows;

use std::time::{Duration, SystemTime};

use crate::preset::Os;

pub use exit::{ExitStatus, signal_name};
pub use linux::{coredump_info, coredumps, journal};
pub use macos::parse as ips;
pub use windows::parse as wer;

/// Why an app exited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExitCause {
    /// `how` is a signal or an exception, such as "SIGABRT".
    Crashed { how: String },
    /// It exited normally, or was asked to.
    Quit,
    /// It had stopped responding.
    Hung,
    /// The system killed it because memory ran out.
    OutOfMemory,
    /// The evidence is inconclusive.
    Unknown,
}

/// A report of the operating system about one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashReport {
    pub kind: ReportKind,
    pub pid: Option<u32>,
    /// The name of its program, without a path.
    pub process: Option<String>,
    pub bundle: Option<String>,
    pub version: Option<String>,
    pub at: Option<SystemTime>,
    /// A short description: "EXC_CRASH (SIGABRT)".
    pub how: String,
    /// The first lines of the report, without paths or names of people.
    pub top: Vec<String>,
}

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportKind {
    Crash,
    Hang,
    OutOfMemory,
}

/// Everything that is known about an exit.
#[derive(Clone, Debug)]
pub struct ExitEvidence<'a> {
    pub os: Os,
    pub pid: u32,
    /// The names that reports may use for it.
    pub names: &'a [String],
    pub at: SystemTime,
    pub exit: Option<ExitStatus>,
    pub reports: &'a [CrashReport],
    /// Whether a crash would have left a report by now.
    pub would_be_reported: bool,
    /// Whether Evermoor asked it to exit.
    pub asked: bool,
    /// Whether it had stopped responding before.
    pub hung: bool,
}

/// Why it exited, and the evidence for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitDiagnosis {
    pub cause: ExitCause,
    /// One sentence each, without paths or names of people.
    pub evidence: Vec<String>,
    /// The first lines of the decisive report, if there is one.
    pub top: Vec<String>,
}

/// A report belongs to an exit if it was written at most this long before or after it.
const BEFORE: Duration = Duration::from_secs(120);
const AFTER: Duration = Duration::from_secs(60);

/// Decides by the system's reports first, then by the exit status, then by the absence of both.
pub fn diagnose(ending: &ExitEvidence<'_>) -> ExitDiagnosis {
    let ours: Vec<&CrashReport> =
        ending.reports.iter().filter(|report| ending.owns(report)).collect();
    let of = |kind: ReportKind| ours.iter().find(|report| report.kind == kind);
    let verdict =
        |cause: ExitCause, why: String| ExitDiagnosis { cause, evidence: vec![why], top: vec![] };
    if let Some(report) = of(ReportKind::OutOfMemory) {
        let why = format!("The system reported that it killed the process: {}.", report.how);
        return ExitDiagnosis { top: report.top.clone(), ..verdict(ExitCause::OutOfMemory, why) };
    }
    if let Some(report) = of(ReportKind::Crash) {
        let why = format!("The system wrote a crash report: {}.", report.how);
        let cause = ExitCause::Crashed { how: report.how.clone() };
        return ExitDiagnosis { top: report.top.clone(), ..verdict(cause, why) };
    }
    if ending.hung || of(ReportKind::Hang).is_some() {
        let top = of(ReportKind::Hang).map(|report| report.top.clone()).unwrap_or_default();
        let why = "It had stopped responding before it exited.".to_owned();
        return ExitDiagnosis { top, ..verdict(ExitCause::Hung, why) };
    }
    match ending.exit {
        Some(exit) => exit.verdict(ending),
        None if ending.asked => verdict(ExitCause::Quit, "It was asked to quit.".into()),
        None if ending.would_be_reported => {
            verdict(ExitCause::Quit, "The system reports crashes and reported none.".into())
        }
        None => {
            let why = "The system does not say how it exited or whether it crashed.";
            verdict(ExitCause::Unknown, why.into())
        }
    }
}

impl ExitEvidence<'_> {
    /// Whether a report is about this exit. The process id decides if the report has one, because
    /// several processes may share a name.
    fn owns(&self, report: &CrashReport) -> bool {
        let same_process = match report.pid {
            Some(pid) => pid == self.pid,
            None => report.process.as_ref().is_some_and(|seen| {
                self.names.iter().any(|known| self.os.same_process(known, seen))
            }),
        };
        let in_time = report.at.is_none_or(|at| at + BEFORE >= self.at && at <= self.at + AFTER);
        same_process && in_time
    }
}

impl ExitCause {
    /// Whether something went wrong in the app.
    pub fn is_crash(&self) -> bool {
        match self {
            Self::Crashed { .. } | Self::OutOfMemory => true,
            Self::Quit | Self::Hung | Self::Unknown => false,
        }
    }

    /// A sentence about the app with this title.
    pub fn sentence(&self, title: &str) -> String {
        match self {
            Self::Crashed { how } => format!("{title} crashed ({how})."),
            Self::Quit => format!("{title} was quit."),
            Self::Hung => format!("{title} stopped responding."),
            Self::OutOfMemory => format!("The system ran out of memory and killed {title}."),
            Self::Unknown => format!("{title} exited for an unknown reason."),
        }
    }
}

/// Whether a file or folder of this name may be a report about the app. The content decides; the
/// name only avoids reading other reports.
pub fn is_report(os: Os, names: &[String], file: &str) -> bool {
    match os {
        Os::MacOs => {
            let about = |name: &String| {
                let rest = file.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.starts_with(['-', '_']))
            };
            file.ends_with(".ips") && (file.starts_with("JetsamEvent") || names.iter().any(about))
        }
        // Windows may shorten the names of programs.
        Os::Windows => file.starts_with("AppCrash_") || file.starts_with("AppHang_"),
        Os::Linux => false,
    }
}

/// Reads a report file of this system.
pub fn read(os: Os, bytes: &[u8]) -> Vec<CrashReport> {
    match os {
        Os::MacOs => ips(&String::from_utf8_lossy(bytes)),
        Os::Windows => wer(bytes).into_iter().collect(),
        Os::Linux => Vec::new(),
    }
}

/// The last component of a path of any system.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Parses Apple's time format, `2026-08-22 00:14:53.00 +0300`.
fn apple_time(text: &str) -> Option<SystemTime> {
    let mut parts = text.split_whitespace();
    let (day, time, zone) = (parts.next()?, parts.next()?, parts.next()?);
    let time = time.split('.').next()?;
    let utc = humantime::parse_rfc3339(&format!("{day}T{time}Z")).ok()?;
    let (sign, digits) = zone.split_at_checked(1)?;
    let digits = digits.replace(':', "");
    let (hours, minutes) = digits.split_at_checked(2)?;
    // A byte each: larger numbers are no time zone, and could not be added up.
    let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
    let ahead = Duration::from_secs(u64::from(hours) * 3600 + u64::from(minutes) * 60);
    match sign {
        "+" => utc.checked_sub(ahead),
        "-" => utc.checked_add(ahead),
        _ => None,
    }
}
