//! macOS crash reports: one line of JSON with metadata, then a JSON document with the report.
//!
//! Apple documents both parts ("Interpreting the JSON format of a crash report"). `bug_type` 309 is
//! a crash, 298 a list of processes when memory ran out, and 288 a process that hung.

use serde_json::Value;

use super::{CrashReport, ReportKind, apple_time, file_name};

/// How many stack frames are kept.
const MAX_FRAMES: usize = 8;
const MAX_LINE: usize = 200;

/// Reads a file. A memory report may be about several processes; other kinds of report yield
/// none.
pub fn parse(file: &str) -> Vec<CrashReport> {
    let (head, rest) = file.split_once('\n').unwrap_or((file, ""));
    let head: Value = serde_json::from_str(head).unwrap_or_default();
    // The metadata alone is enough to know that something crashed.
    let body: Value = serde_json::from_str(rest).unwrap_or_default();
    match number(&head["bug_type"]) {
        Some(309) => vec![crash(&head, &body)],
        Some(298) => memory(&head, &body),
        Some(288) => vec![hang(&head, &body)],
        _ => Vec::new(),
    }
}

fn crash(head: &Value, body: &Value) -> CrashReport {
    let out_of_memory = text(&body["termination"]["namespace"])
        .is_some_and(|namespace| ["JETSAM", "MEMORYSTATUS"].contains(&namespace.as_str()));
    let kind = if out_of_memory { ReportKind::OutOfMemory } else { ReportKind::Crash };
    let how = how(body);
    let mut top = vec![format!("Exception: {how}")];
    top.extend(text(&body["exception"]["subtype"]).map(|subtype| format!("Subtype: {subtype}")));
    top.extend(termination(&body["termination"]));
    top.extend(application_info(&body["asi"]));
    top.extend(stack(body));
    CrashReport { how, top, ..common(kind, head, body) }
}

fn hang(head: &Value, body: &Value) -> CrashReport {
    CrashReport { how: "it did not respond".into(), ..common(ReportKind::Hang, head, body) }
}

/// The processes with a `reason` are those that the system killed.
fn memory(head: &Value, body: &Value) -> Vec<CrashReport> {
    let processes = body["processes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let killed = processes.iter().filter_map(|process| Some((process, text(&process["reason"])?)));
    killed
        .map(|(process, reason)| CrashReport {
            pid: number(&process["pid"]).and_then(|pid| u32::try_from(pid).ok()),
            process: text(&process["name"]),
            bundle: None,
            version: None,
            top: vec![format!("Killed for memory: {reason}")],
            how: reason,
            ..common(ReportKind::OutOfMemory, head, body)
        })
        .collect()
}

fn common(kind: ReportKind, head: &Value, body: &Value) -> CrashReport {
    let first = |values: [&Value; 2]| values.into_iter().find_map(text);
    let name = text(&body["procName"]).or_else(|| first([&head["app_name"], &head["name"]]));
    CrashReport {
        kind,
        pid: number(&body["pid"]).and_then(|pid| u32::try_from(pid).ok()),
        process: name.map(|name| file_name(&name).to_owned()),
        bundle: first([&body["bundleInfo"]["CFBundleIdentifier"], &head["bundleID"]]),
        version: first([&body["bundleInfo"]["CFBundleShortVersionString"], &head["app_version"]]),
        at: first([&body["captureTime"], &head["timestamp"]]).and_then(|time| apple_time(&time)),
        how: String::new(),
        top: Vec::new(),
    }
}

fn how(body: &Value) -> String {
    let exception = &body["exception"];
    match (text(&exception["type"]), text(&exception["signal"])) {
        (Some(kind), Some(signal)) => format!("{kind} ({signal})"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => {
            text(&body["termination"]["indicator"]).unwrap_or("no exception reported".into())
        }
    }
}

fn termination(termination: &Value) -> Option<String> {
    let namespace = text(&termination["namespace"])?;
    let code = number(&termination["code"]).map(|code| format!(" {code}")).unwrap_or_default();
    let indicator = text(&termination["indicator"]).map(|indicator| format!(", {indicator}"));
    Some(format!("Termination: {namespace}{code}{}", indicator.unwrap_or_default()))
}

/// Messages of libraries that aborted: `{"libsystem_c.dylib": ["abort() called"]}`.
fn application_info(asi: &Value) -> Vec<String> {
    let libraries = asi.as_object().into_iter().flatten();
    libraries
        .flat_map(|(library, lines)| {
            let lines = lines.as_array().map(Vec::as_slice).unwrap_or_default();
            lines.iter().filter_map(text).map(move |line| format!("{}: {line}", file_name(library)))
        })
        // A path may contain the name of a person.
        .filter(|line| !line.contains("/Users/"))
        .take(3)
        .collect()
}

fn stack(body: &Value) -> Vec<String> {
    let faulting = number(&body["faultingThread"]).and_then(|thread| usize::try_from(thread).ok());
    let thread = &body["threads"][faulting.unwrap_or(0)];
    let frames = thread["frames"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |(index, frame): (usize, &Value)| {
        let image = number(&frame["imageIndex"]).and_then(|index| usize::try_from(index).ok());
        let image = image.and_then(|index| text(&body["usedImages"][index]["name"]));
        let image = image.unwrap_or_else(|| "???".to_owned());
        let at = match (text(&frame["symbol"]), number(&frame["symbolLocation"])) {
            (Some(symbol), Some(offset)) => format!("{symbol} + {offset}"),
            (Some(symbol), None) => symbol,
            (None, _) => format!("{:#x}", number(&frame["imageOffset"]).unwrap_or_default()),
        };
        format!("{index}  {}  {at}", file_name(&image))
    };
    frames.iter().take(MAX_FRAMES).enumerate().map(line).collect()
}

/// A non-empty string without control characters.
fn text(value: &Value) -> Option<String> {
    let trimmed = value.as_str()?.trim();
    let clean: String = trimmed.chars().filter(|char| !char.is_control()).take(MAX_LINE).collect();
    (!clean.is_empty()).then_some(clean)
}

/// A number, or a string that contains one.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}
