//! The reports of macOS: a line of JSON about the report, then JSON with the report.
//!
//! Apple documents both parts ("Interpreting the JSON format of a crash report"): `bug_type` 309 is
//! a crash. 298 is a list of processes at a moment when memory ran out, and 288 a process that hung.

use serde_json::Value;

use super::{Kind, Report, apple_time, bare};

/// How many lines of a stack are kept.
const FRAMES: usize = 8;
const LONGEST_LINE: usize = 200;

/// Reads a file. A report of memory may name several processes; one that is about something else
/// names none.
pub fn parse(text: &str) -> Vec<Report> {
    let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
    let head: Value = serde_json::from_str(head).unwrap_or_default();
    // Without the second part the first is enough to say that something crashed.
    let body: Value = serde_json::from_str(rest).unwrap_or_default();
    match number(&head["bug_type"]) {
        Some(309) => vec![crash(&head, &body)],
        Some(298) => memory(&head, &body),
        Some(288) => vec![hang(&head, &body)],
        _ => Vec::new(),
    }
}

fn crash(head: &Value, body: &Value) -> Report {
    let ended_for_memory = word(&body["termination"]["namespace"])
        .is_some_and(|namespace| ["JETSAM", "MEMORYSTATUS"].contains(&namespace.as_str()));
    let kind = if ended_for_memory { Kind::OutOfMemory } else { Kind::Crash };
    let how = how(body);
    let mut top = vec![format!("Exception: {how}")];
    top.extend(word(&body["exception"]["subtype"]).map(|subtype| format!("Subtype: {subtype}")));
    top.extend(termination(&body["termination"]));
    top.extend(said(&body["asi"]));
    top.extend(stack(body));
    Report { how, top, ..common(kind, head, body) }
}

fn hang(head: &Value, body: &Value) -> Report {
    Report { how: "it did not respond".into(), ..common(Kind::Hang, head, body) }
}

/// The processes that the system ended are those with a reason beside them.
fn memory(head: &Value, body: &Value) -> Vec<Report> {
    let processes = body["processes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let ended = processes.iter().filter_map(|process| Some((process, word(&process["reason"])?)));
    ended
        .map(|(process, reason)| Report {
            pid: number(&process["pid"]).and_then(|pid| u32::try_from(pid).ok()),
            process: word(&process["name"]),
            bundle: None,
            version: None,
            top: vec![format!("Ended for memory: {reason}")],
            how: reason,
            ..common(Kind::OutOfMemory, head, body)
        })
        .collect()
}

fn common(kind: Kind, head: &Value, body: &Value) -> Report {
    let first = |values: [&Value; 2]| values.into_iter().find_map(word);
    let name = word(&body["procName"]).or_else(|| first([&head["app_name"], &head["name"]]));
    Report {
        kind,
        pid: number(&body["pid"]).and_then(|pid| u32::try_from(pid).ok()),
        process: name.map(|name| bare(&name).to_owned()),
        bundle: first([&body["bundleInfo"]["CFBundleIdentifier"], &head["bundleID"]]),
        version: first([&body["bundleInfo"]["CFBundleShortVersionString"], &head["app_version"]]),
        at: first([&body["captureTime"], &head["timestamp"]]).and_then(|text| apple_time(&text)),
        how: String::new(),
        top: Vec::new(),
    }
}

fn how(body: &Value) -> String {
    let exception = &body["exception"];
    match (word(&exception["type"]), word(&exception["signal"])) {
        (Some(kind), Some(signal)) => format!("{kind} ({signal})"),
        (Some(word), None) | (None, Some(word)) => word,
        (None, None) => {
            word(&body["termination"]["indicator"]).unwrap_or("no exception told".into())
        }
    }
}

fn termination(termination: &Value) -> Option<String> {
    let namespace = word(&termination["namespace"])?;
    let code = number(&termination["code"]).map(|code| format!(" {code}")).unwrap_or_default();
    let indicator = word(&termination["indicator"]).map(|word| format!(", {word}"));
    Some(format!("Termination: {namespace}{code}{}", indicator.unwrap_or_default()))
}

/// What libraries said as they gave up: `{"libsystem_c.dylib": ["abort() called"]}`.
fn said(asi: &Value) -> Vec<String> {
    let libraries = asi.as_object().into_iter().flatten();
    libraries
        .flat_map(|(library, lines)| {
            let lines = lines.as_array().map(Vec::as_slice).unwrap_or_default();
            lines.iter().filter_map(word).map(move |line| format!("{}: {line}", bare(library)))
        })
        // A path in such a line may name a person.
        .filter(|line| !line.contains("/Users/"))
        .take(3)
        .collect()
}

fn stack(body: &Value) -> Vec<String> {
    let faulting = number(&body["faultingThread"]).and_then(|thread| usize::try_from(thread).ok());
    let thread = &body["threads"][faulting.unwrap_or(0)];
    let frames = thread["frames"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |(place, frame): (usize, &Value)| {
        let image = number(&frame["imageIndex"]).and_then(|index| usize::try_from(index).ok());
        let image = image.and_then(|index| word(&body["usedImages"][index]["name"]));
        let image = image.unwrap_or_else(|| "???".to_owned());
        let at = match (word(&frame["symbol"]), number(&frame["symbolLocation"])) {
            (Some(symbol), Some(offset)) => format!("{symbol} + {offset}"),
            (Some(symbol), None) => symbol,
            (None, _) => format!("{:#x}", number(&frame["imageOffset"]).unwrap_or_default()),
        };
        format!("{place}  {}  {at}", bare(&image))
    };
    frames.iter().take(FRAMES).enumerate().map(line).collect()
}

/// A text that is not empty, without what would break a line.
fn word(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    let clean: String = text.chars().filter(|sign| !sign.is_control()).take(LONGEST_LINE).collect();
    (!clean.is_empty()).then_some(clean)
}

/// A number, or a text with one.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}
