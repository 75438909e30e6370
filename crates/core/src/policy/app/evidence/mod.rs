//! What systems say of a process that ended, and what follows from it.
//!
//! A crash, a normal quit, a hang and an end for want of memory call for different things. Each
//! system leaves traces of its own: macOS `.ips` files, Linux the journal, Windows Error Reporting
//! its folders. They are read here, tolerantly: a field that is missing or new costs only that
//! field. When the traces do not decide, that is the verdict.

mod exit;
mod ips;
mod linux;
#[cfg(test)]
mod tests;
mod wer;

use std::time::{Duration, SystemTime};

use crate::preset::Os;

pub use exit::signal_name;
pub use ips::parse as ips;
pub use linux::{coredump_info, coredumps, journal};
pub use wer::parse as wer;

/// Why an application ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// With a signal or an exception, such as "SIGABRT".
    Crashed { how: String },
    /// It ended in order, or was asked to.
    Quit,
    /// It had stopped answering, and was ended for that.
    Hung,
    /// The system ended it because memory ran out.
    OutOfMemory,
    /// The evidence does not decide.
    Unknown,
}

/// What a system wrote down about one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub kind: Kind,
    pub pid: Option<u32>,
    /// Its name, without a path.
    pub process: Option<String>,
    pub bundle: Option<String>,
    pub version: Option<String>,
    pub at: Option<SystemTime>,
    /// What happened, in a few words: "EXC_CRASH (SIGABRT)".
    pub how: String,
    /// The top of the report, line by line, without a path or a name of a person.
    pub top: Vec<String>,
}

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Crash,
    Hang,
    OutOfMemory,
}

/// How a process ended, where its system says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

/// All that is known of an end.
#[derive(Clone, Debug)]
pub struct Ending<'a> {
    pub os: Os,
    pub pid: u32,
    /// What reports may call it.
    pub names: &'a [String],
    pub at: SystemTime,
    pub exit: Option<Exit>,
    pub reports: &'a [Report],
    /// Whether a crash would have left a report here, and had the time to.
    pub would_be_reported: bool,
    /// Whether it was asked to end, by Evermoor or through it.
    pub asked: bool,
    /// Whether it had stopped answering before.
    pub hung: bool,
}

/// Why it ended, and what says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub cause: Cause,
    /// For the record: one sentence each, without a path or a name of a person.
    pub evidence: Vec<String>,
    /// The top of the report that decided, if one did.
    pub top: Vec<String>,
}

/// A report belongs to an end if it was written this long before it or after.
const BEFORE: Duration = Duration::from_secs(120);
const AFTER: Duration = Duration::from_secs(60);

/// Weighs what is known: a report of the system first, then how the process ended, then silence.
pub fn judge(ending: &Ending<'_>) -> Verdict {
    let ours: Vec<&Report> = ending.reports.iter().filter(|report| ending.owns(report)).collect();
    let of = |kind: Kind| ours.iter().find(|report| report.kind == kind);
    let verdict = |cause: Cause, said: String| Verdict { cause, evidence: vec![said], top: vec![] };
    if let Some(report) = of(Kind::OutOfMemory) {
        let said = format!("The system wrote down that it ended it: {}.", report.how);
        return Verdict { top: report.top.clone(), ..verdict(Cause::OutOfMemory, said) };
    }
    if let Some(report) = of(Kind::Crash) {
        let said = format!("The system wrote a crash report: {}.", report.how);
        let cause = Cause::Crashed { how: report.how.clone() };
        return Verdict { top: report.top.clone(), ..verdict(cause, said) };
    }
    if ending.hung || of(Kind::Hang).is_some() {
        let top = of(Kind::Hang).map(|report| report.top.clone()).unwrap_or_default();
        let said = "It had stopped answering before it ended.".to_owned();
        return Verdict { top, ..verdict(Cause::Hung, said) };
    }
    match ending.exit {
        Some(exit) => exit.verdict(ending),
        None if ending.asked => verdict(Cause::Quit, "It was asked to quit.".into()),
        None if ending.would_be_reported => {
            verdict(Cause::Quit, "The system reports crashes, and it reported none.".into())
        }
        None => {
            let said = "The system says neither how it ended nor whether it crashed.";
            verdict(Cause::Unknown, said.into())
        }
    }
}

impl Ending<'_> {
    /// Whether a report is about this end. A number decides if there is one: names are shared.
    fn owns(&self, report: &Report) -> bool {
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

impl Cause {
    /// Whether it is evidence of something that went wrong in the application.
    pub fn is_crash(&self) -> bool {
        match self {
            Self::Crashed { .. } | Self::OutOfMemory => true,
            Self::Quit | Self::Hung | Self::Unknown => false,
        }
    }

    /// One sentence about an application of this title.
    pub fn sentence(&self, title: &str) -> String {
        match self {
            Self::Crashed { how } => format!("{title} crashed ({how})."),
            Self::Quit => format!("{title} was quit."),
            Self::Hung => format!("{title} stopped answering."),
            Self::OutOfMemory => format!("The system ended {title} because memory ran out."),
            Self::Unknown => format!("{title} ended, and the evidence does not say why."),
        }
    }
}

/// Whether a file or folder of this name may be a report that says something of the application.
/// What it says decides; the name only spares reading the others.
pub fn is_report(os: Os, names: &[String], file: &str) -> bool {
    match os {
        Os::MacOs => {
            let about = |name: &String| {
                let rest = file.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.starts_with(['-', '_']))
            };
            file.ends_with(".ips") && (file.starts_with("JetsamEvent") || names.iter().any(about))
        }
        // Windows shortens names in ways of its own.
        Os::Windows => file.starts_with("AppCrash_") || file.starts_with("AppHang_"),
        Os::Linux => false,
    }
}

/// Reads a report that lay in a folder of this system.
pub fn read(os: Os, bytes: &[u8]) -> Vec<Report> {
    match os {
        Os::MacOs => ips(&String::from_utf8_lossy(bytes)),
        Os::Windows => wer(bytes).into_iter().collect(),
        Os::Linux => Vec::new(),
    }
}

/// The last part of a path of any system.
fn bare(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// `2026-08-22 00:14:53.00 +0300`, as Apple writes a moment.
fn apple_time(text: &str) -> Option<SystemTime> {
    let mut words = text.split_whitespace();
    let (day, time, zone) = (words.next()?, words.next()?, words.next()?);
    let time = time.split('.').next()?;
    let utc = humantime::parse_rfc3339(&format!("{day}T{time}Z")).ok()?;
    let (sign, digits) = zone.split_at_checked(1)?;
    let digits = digits.replace(':', "");
    let (hours, minutes) = digits.split_at_checked(2)?;
    let hours: u64 = hours.parse().ok()?;
    let minutes: u64 = minutes.parse().ok()?;
    let ahead = Duration::from_secs(hours * 3600 + minutes * 60);
    match sign {
        "+" => utc.checked_sub(ahead),
        "-" => utc.checked_add(ahead),
        _ => None,
    }
}
