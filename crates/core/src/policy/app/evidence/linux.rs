//! Linux crash reports: core dumps, and processes that the kernel killed for memory.
//!
//! The journal has both. Where the user may not read it, `coredumpctl` lists the core dumps of the
//! user's own programs.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::{CrashReport, ReportKind, file_name, signal_name};
use crate::preset::Os;

/// How many stack frames are kept.
const MAX_FRAMES: usize = 10;

/// Reads `journalctl --output=json`: one object per line. Other lines are skipped.
pub fn journal(output: &str) -> Vec<CrashReport> {
    output
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|entry| core_dump(&entry).or_else(|| killed_by_kernel(&entry)))
        .collect()
}

/// Reads `coredumpctl list --json=short`: an array of objects.
pub fn coredumps(output: &str) -> Vec<CrashReport> {
    let list: Vec<Value> = serde_json::from_str(output).unwrap_or_default();
    list.iter()
        .filter_map(|entry| {
            let how = signal(number(&entry["sig"])?);
            Some(CrashReport {
                kind: ReportKind::Crash,
                pid: number(&entry["pid"]).and_then(|pid| u32::try_from(pid).ok()),
                process: text(&entry["exe"]).map(|exe| file_name(&exe).to_owned()),
                bundle: None,
                version: None,
                at: number(&entry["time"]).and_then(time),
                top: vec![format!("Signal: {how}")],
                how,
            })
        })
        .collect()
}

/// Reads `coredumpctl info`: lines of `name: value`, then a stack.
pub fn coredump_info(output: &str) -> Option<CrashReport> {
    let field = |name: &str| {
        output
            .lines()
            .find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'))
            .map(str::trim)
    };
    let pid = field("PID")?;
    let how = signal(field("Signal")?.split_whitespace().next()?.parse().ok()?);
    let name = pid.split_once('(').map(|(_, name)| name.trim_end_matches(')').to_owned());
    let mut top = vec![format!("Signal: {how}")];
    top.extend(stack(output));
    Some(CrashReport {
        kind: ReportKind::Crash,
        pid: pid.split_whitespace().next()?.parse().ok(),
        process: name.or_else(|| field("Executable").map(|exe| file_name(exe).to_owned())),
        bundle: None,
        version: None,
        // The time zone is an abbreviation, which is ambiguous.
        at: None,
        how,
        top,
    })
}

fn core_dump(entry: &Value) -> Option<CrashReport> {
    let how = text(&entry["COREDUMP_SIGNAL_NAME"])
        .or_else(|| number(&entry["COREDUMP_SIGNAL"]).map(signal))?;
    let name = text(&entry["COREDUMP_COMM"])
        .or_else(|| text(&entry["COREDUMP_EXE"]).map(|exe| file_name(&exe).to_owned()));
    let mut top = vec![format!("Signal: {how}")];
    top.extend(text(&entry["MESSAGE"]).map(|message| stack(&message)).unwrap_or_default());
    Some(CrashReport {
        kind: ReportKind::Crash,
        pid: number(&entry["COREDUMP_PID"]).and_then(|pid| u32::try_from(pid).ok()),
        process: name,
        bundle: None,
        version: None,
        at: number(&entry["COREDUMP_TIMESTAMP"])
            .or_else(|| number(&entry["__REALTIME_TIMESTAMP"]))
            .and_then(time),
        how,
        top,
    })
}

/// `Out of memory: Killed process 1234 (os_server) total-vm:…`; also within a control group.
fn killed_by_kernel(entry: &Value) -> Option<CrashReport> {
    let message = text(&entry["MESSAGE"])?;
    let lower = message.to_ascii_lowercase();
    let start = lower.find("killed process ").filter(|_| lower.contains("out of memory"))?;
    let rest = &message[start + "killed process ".len()..];
    let (pid, rest) = rest.split_once(' ')?;
    let name = rest.strip_prefix('(').and_then(|rest| Some(rest.split_once(')')?.0.to_owned()));
    Some(CrashReport {
        kind: ReportKind::OutOfMemory,
        pid: pid.trim_end_matches(',').parse().ok(),
        process: name,
        bundle: None,
        version: None,
        at: number(&entry["__REALTIME_TIMESTAMP"]).and_then(time),
        how: "out of memory".into(),
        top: vec![message.chars().take(200).collect()],
    })
}

/// The frames of a stack: `#0  0x00007f… abort (libc.so.6 + 0x2587)`.
fn stack(output: &str) -> Vec<String> {
    let frames = output.lines().map(str::trim).filter(|line| line.starts_with('#'));
    frames.take(MAX_FRAMES).map(without_folders).collect()
}

/// Reduces paths in a frame to the file name, because a path may contain the name of a person.
fn without_folders(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let shortened = words.iter().map(|word| match word.strip_prefix('(').unwrap_or(word) {
        path if path.starts_with('/') => word.replace(path, file_name(path)),
        _ => (*word).to_owned(),
    });
    shortened.collect::<Vec<_>>().join(" ")
}

fn signal(number: i64) -> String {
    let known = i32::try_from(number).ok().and_then(|number| signal_name(Os::Linux, number));
    known.map_or_else(|| format!("signal {number}"), str::to_owned)
}

/// Converts microseconds of the Unix epoch.
fn time(micros: i64) -> Option<SystemTime> {
    let since = Duration::from_micros(u64::try_from(micros).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// A string. The journal writes one that is not UTF-8 as an array of bytes.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(bytes) => {
            let bytes: Option<Vec<u8>> =
                bytes.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect();
            Some(String::from_utf8_lossy(&bytes?).into_owned())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// A number, or a string that contains one: the journal writes all values as strings.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}
