//! Windows Error Reporting: `CrashReport.wer`, lines of `name=value` in UTF-16.
//!
//! The meaning of a numbered value depends on the kind of report, so values are found by the name
//! that the report gives them, never by number.

use std::time::{Duration, SystemTime};

use super::{CrashReport, ReportKind, file_name};

/// Reads a `CrashReport.wer` file.
pub fn parse(bytes: &[u8]) -> Option<CrashReport> {
    let text = decode(bytes)?;
    let lines: Vec<(&str, &str)> =
        text.lines().filter_map(|line| line.trim_end().split_once('=')).collect();
    let value = |name: &str| {
        let found = lines.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    };
    let signature = |name: &str| {
        let (key, _) = lines.iter().find(|(key, found)| {
            key.starts_with("Sig[") && key.ends_with("].Name") && found.trim() == name
        })?;
        value(&format!("{}.Value", key.strip_suffix(".Name")?))
    };
    let event = value("EventType")?;
    let kind = match event {
        // AppHangB1, AppHangXProcB1.
        _ if event.to_ascii_lowercase().starts_with("apphang") => ReportKind::Hang,
        // A crash, a buffer overrun, a .NET exception, a crash of a Store app.
        "APPCRASH" | "BEX" | "BEX64" | "CLR20r3" | "MoAppCrash" | "MoBEX" => ReportKind::Crash,
        _ if event.to_ascii_uppercase().contains("CRASH") => ReportKind::Crash,
        _ => return None,
    };
    let module = signature("Fault Module Name").map(file_name);
    let exception = signature("Exception Code");
    let how = match (exception, module) {
        (Some(code), Some(module)) => format!("exception 0x{} in {module}", code.to_uppercase()),
        (Some(code), None) => format!("exception 0x{}", code.to_uppercase()),
        (None, _) => event.to_owned(),
    };
    let mut top = vec![format!("Event: {event}")];
    let kept = [
        "Application Version",
        "Fault Module Name",
        "Fault Module Version",
        "Exception Code",
        "Exception Offset",
    ];
    top.extend(
        kept.iter().filter_map(|name| Some(format!("{name}: {}", file_name(signature(name)?)))),
    );
    Some(CrashReport {
        kind,
        pid: value("TargetProcessId").and_then(|pid| pid.parse().ok()),
        process: signature("Application Name")
            .or_else(|| value("NsAppName"))
            .or_else(|| value("AppPath"))
            .map(|name| file_name(name).to_owned()),
        bundle: None,
        version: signature("Application Version").map(str::to_owned),
        at: value("EventTime").and_then(|ticks| time(ticks.parse().ok()?)),
        how,
        top,
    })
}

/// Decodes UTF-16 with a byte order mark, or UTF-8.
fn decode(bytes: &[u8]) -> Option<String> {
    let wide = |from: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|pair| from([pair[0], pair[1]]));
        char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes {
        [0xff, 0xfe, ..] => Some(wide(u16::from_le_bytes)),
        [0xfe, 0xff, ..] => Some(wide(u16::from_be_bytes)),
        _ => std::str::from_utf8(bytes).ok().map(str::to_owned),
    }
}

/// Converts 100 ns ticks since 1601.
fn time(ticks: u64) -> Option<SystemTime> {
    const TO_UNIX: u64 = 11_644_473_600;
    let since = Duration::from_secs((ticks / 10_000_000).checked_sub(TO_UNIX)?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}
