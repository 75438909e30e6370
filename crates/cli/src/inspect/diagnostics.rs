//! `evermoor diagnostics`: writes an archive for a bug report, without secrets or personal data.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use evermoor_client::ControlClient;
use evermoor_core::config::MAX_FILE_SIZE;
use evermoor_core::config::redacted::without_secrets;
use evermoor_core::history::incident::report;
use evermoor_core::history::incident::report::ReportEnvironment;
use evermoor_core::security::personal_names::PrivateNames;
use evermoor_core::security::redaction::patterns::scrub;
use evermoor_log::read;
use evermoor_platform::clock;
use evermoor_platform::fs::foreign;
use evermoor_platform::system::machine::{self, LocalUser};
use serde_json::json;

use crate::exit::Exit;
use crate::inspect::doctor;
use crate::instance::Instance;
use crate::runtime::run_async;
use crate::terminal::{self, Progress};

/// How many lines of each log to include.
const LINES: usize = 2_000;
/// How far back to include outages, in milliseconds.
const PERIOD: u64 = 30 * 86_400_000;

/// A file in the archive.
struct ArchiveFile {
    name: &'static str,
    text: String,
}

pub(crate) fn run(instance: &Instance, output: Option<PathBuf>) -> Exit {
    let now = clock::unix_millis();
    let path = output.unwrap_or_else(|| {
        let moment = evermoor_core::history::incident::text::format_time(now);
        let stamp: String = moment.chars().filter(char::is_ascii_digit).take(14).collect();
        format!("evermoor-diagnostics-{stamp}.tar.gz").into()
    });
    let progress = Progress::show("Collecting");
    let files = run_async(collect(instance, now));
    drop(progress);
    let files = match files {
        Ok(files) => files,
        Err(error) => return Exit::failure(&error),
    };
    let LocalUser { home, user, machine } = LocalUser::here();
    let private = PrivateNames { home, user, machine };
    let files: Vec<ArchiveFile> = files
        .into_iter()
        .map(|file| ArchiveFile { text: private.remove_from(&scrub(&file.text)), ..file })
        .collect();
    if let Err(error) = write(&path, &files, now) {
        return Exit::failure(&format_args!(
            "{} could not be written: {error}. Name another file with --output.",
            path.display()
        ));
    }
    let names: Vec<&str> = files.iter().map(|file| file.name).collect();
    if terminal::options().json {
        terminal::print_json(json!({ "file": path, "contains": names }));
        return Exit::Ok;
    }
    terminal::print(&path.display());
    let what = format!("It contains {}. Check it before you send it.", names.join(", "));
    terminal::print_note(&terminal::indented(&what, 0, terminal::width()));
    Exit::Ok
}

async fn collect(instance: &Instance, now: u64) -> Vec<ArchiveFile> {
    let file = |name, text| ArchiveFile { name, text };
    let system = machine::describe_system().await;
    let checks = doctor::run_checks(instance).await;
    let mut files = vec![
        file(
            "versions.json",
            pretty(&json!({
                "schema": 1,
                "evermoor": evermoor_gateway::VERSION,
                "system": system,
                "made": evermoor_core::history::incident::text::format_time(now),
            })),
        ),
        file("doctor.json", pretty(&json!({ "schema": 1, "checks": checks }))),
    ];
    let text = foreign::read_text(&instance.paths.config, MAX_FILE_SIZE);
    let text = text.map_or_else(|error| format!("# {error}\n"), |text| without_secrets(&text));
    files.push(file("config.toml", text));
    let logs =
        [("gateway.log", instance.paths.log_file()), ("tray.log", instance.paths.tray_log_file())];
    for (name, path) in logs {
        let lines = read::newest(&path, LINES, |_| true);
        let lines: Vec<String> =
            lines.iter().filter_map(|line| serde_json::to_string(line).ok()).collect();
        files.push(file(name, lines.join("\n") + "\n"));
    }
    if let Some(control) = ControlClient::find(&instance.paths)
        && let Ok(mut status) = control.status().await
    {
        for sign_in in status.upstreams.iter_mut().filter_map(|one| one.sign_in.as_mut()) {
            sign_in.account = sign_in.account.take().map(|_| "[removed]".to_owned());
        }
        let upstreams = status.upstreams.iter();
        let upstreams = upstreams.map(|one| (one.title.clone(), String::new())).collect();
        let evermoor = status.version.clone();
        files.push(file("status.json", pretty(&json!(status))));
        if let Ok(found) = control.incidents(None, now.saturating_sub(PERIOD)).await {
            let environment = ReportEnvironment { evermoor, system, upstreams };
            let text = report::markdown(&environment, &found, Some(PERIOD), now);
            files.push(file("incidents.md", text));
        }
    }
    files
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Writes the archive. Fails if the file already exists.
fn write(path: &Path, files: &[ArchiveFile], now: u64) -> io::Result<()> {
    let mut made = tar::Builder::new(flate2::write::GzEncoder::new(
        Vec::new(),
        flate2::Compression::default(),
    ));
    for file in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.text.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(now / 1000);
        let name = format!("evermoor-diagnostics/{}", file.name);
        made.append_data(&mut header, name, file.text.as_bytes())?;
    }
    let bytes = made.into_inner()?.finish()?;
    let mut file = std::fs::File::options().write(true).create_new(true).open(path)?;
    file.write_all(&bytes)
}
