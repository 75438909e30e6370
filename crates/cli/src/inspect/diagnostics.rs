//! `evermoor diagnostics`: one archive for a bug report, without secrets and without the person.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use evermoor_client::Control;
use evermoor_core::config::redacted::without_secrets;
use evermoor_core::history::incident::report;
use evermoor_core::history::incident::report::ReportEnvironment;
use evermoor_core::security::anonymize::PrivateNames;
use evermoor_core::security::scrub::scrub;
use evermoor_log::read;
use evermoor_platform::clock;
use evermoor_platform::system::machine::{self, LocalUser};
use serde_json::json;

use crate::exit::Exit;
use crate::gateway::serve::Place;
use crate::inspect::doctor;
use crate::inspect::status::run_async;
use crate::terminal::{self, Progress};

/// How much of the log goes along.
const LINES: usize = 2_000;
/// How far back outages are told.
const PERIOD: u64 = 30 * 86_400_000;

/// A file of the archive.
struct Page {
    name: &'static str,
    text: String,
}

pub(crate) fn run(place: &Place, output: Option<PathBuf>) -> Exit {
    let now = clock::unix_millis();
    let path = output.unwrap_or_else(|| {
        let moment = evermoor_core::history::incident::text::format_time(now);
        let stamp: String = moment.chars().filter(char::is_ascii_digit).take(14).collect();
        format!("evermoor-diagnostics-{stamp}.tar.gz").into()
    });
    let progress = Progress::show("Collecting");
    let pages = run_async(collect(place, now));
    drop(progress);
    let pages = match pages {
        Ok(pages) => pages,
        Err(error) => return Exit::failure(&error),
    };
    let LocalUser { home, user, machine } = LocalUser::here();
    let private = PrivateNames { home, user, machine };
    let pages: Vec<Page> = pages
        .into_iter()
        .map(|page| Page { text: private.remove_from(&scrub(&page.text)), ..page })
        .collect();
    if let Err(error) = write(&path, &pages, now) {
        return Exit::failure(&format_args!(
            "{} could not be written: {error}. Name another file with --output.",
            path.display()
        ));
    }
    let names: Vec<&str> = pages.iter().map(|page| page.name).collect();
    if terminal::manner().json {
        terminal::print_json(json!({ "file": path, "contains": names }));
        return Exit::Ok;
    }
    terminal::print(&path.display());
    let what = format!("It contains {}. Look at it before you send it.", names.join(", "));
    terminal::remark(&terminal::indented(&what, 0, terminal::width()));
    Exit::Ok
}

async fn collect(place: &Place, now: u64) -> Vec<Page> {
    let page = |name, text| Page { name, text };
    let system = machine::describe_system().await;
    let checks = doctor::look(place).await;
    let mut pages = vec![
        page(
            "versions.json",
            pretty(&json!({
                "schema": 1,
                "evermoor": evermoor_gateway::VERSION,
                "system": system,
                "made": evermoor_core::history::incident::text::format_time(now),
            })),
        ),
        page("doctor.json", pretty(&json!({ "schema": 1, "checks": checks }))),
    ];
    let text = std::fs::read_to_string(&place.paths.config);
    let text = text.map_or_else(|error| format!("# {error}\n"), |text| without_secrets(&text));
    pages.push(page("config.toml", text));
    let logs = [("gateway.log", place.paths.log_file()), ("tray.log", place.paths.tray_log_file())];
    for (name, file) in logs {
        let lines = read::newest(&file, LINES, |_| true);
        let lines: Vec<String> =
            lines.iter().filter_map(|line| serde_json::to_string(line).ok()).collect();
        pages.push(page(name, lines.join("\n") + "\n"));
    }
    if let Some(control) = Control::find(&place.paths)
        && let Ok(status) = control.status().await
    {
        let upstreams = status.upstreams.iter();
        let upstreams = upstreams.map(|one| (one.title.clone(), String::new())).collect();
        let evermoor = status.version.clone();
        pages.push(page("status.json", pretty(&json!(status))));
        if let Ok(found) = control.incidents(None, now.saturating_sub(PERIOD)).await {
            let environment = ReportEnvironment { evermoor, system, upstreams };
            let text = report::markdown(&environment, &found, Some(PERIOD), now);
            pages.push(page("incidents.md", text));
        }
    }
    pages
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Writes the archive beside its place first, so that there is a whole one or none.
fn write(path: &Path, pages: &[Page], now: u64) -> io::Result<()> {
    let mut made = tar::Builder::new(flate2::write::GzEncoder::new(
        Vec::new(),
        flate2::Compression::default(),
    ));
    for page in pages {
        let mut header = tar::Header::new_gnu();
        header.set_size(page.text.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(now / 1000);
        let name = format!("evermoor-diagnostics/{}", page.name);
        made.append_data(&mut header, name, page.text.as_bytes())?;
    }
    let bytes = made.into_inner()?.finish()?;
    let mut file = std::fs::File::options().write(true).create_new(true).open(path)?;
    file.write_all(&bytes)
}
