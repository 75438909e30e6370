//! `evermoor logs`: shows the log of the gateway or the tray, whether they are running or not.

use std::path::Path;
use std::time::Duration;

use evermoor_core::api::{LogLevel, LogLine};
use evermoor_core::history::incident::text::format_time;
use evermoor_core::security::foreign_text;
use evermoor_gateway::monitoring::log::is_of;
use evermoor_log::read;
use evermoor_platform::clock;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::signals;

use crate::exit::Exit;
use crate::runtime::run_async;
use crate::terminal::{self, Palette};

/// Which lines to show.
pub(crate) struct LogQuery {
    pub(crate) upstream: Option<String>,
    /// The tray's log instead of the gateway's.
    pub(crate) tray: bool,
    /// At most this many lines. Without a number: all lines of the period, or the last ones.
    pub(crate) lines: Option<usize>,
    /// Only lines from this period, in milliseconds.
    pub(crate) since: Option<u64>,
}

/// How many lines are shown if neither a number nor a period is given.
const DEFAULT_LINES: usize = 50;
/// How often to check for new lines.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(crate) fn run(paths: &Paths, query: &LogQuery, follow: bool) -> Exit {
    let path = if query.tray { paths.tray_log_file() } else { paths.log_file() };
    let now = clock::unix_millis();
    let from = query.since.map_or(0, |since| now.saturating_sub(since));
    let count = query.lines.unwrap_or(match query.since {
        Some(_) => usize::MAX,
        None => DEFAULT_LINES,
    });
    let mut follower = read::LogFollower::new(path.clone());
    let lines = read::newest(&path, count, |line| {
        is_of(line, query.upstream.as_deref()) && line.at >= from
    });
    if lines.is_empty() && !follow {
        explain(&path, query);
    }
    lines.iter().for_each(show);
    if !follow {
        return Exit::Ok;
    }
    let followed = run_async(async {
        loop {
            let stop = signals::stop_requested();
            if tokio::time::timeout(POLL_INTERVAL, stop).await.is_ok() {
                return;
            }
            let lines = follower.poll();
            lines.iter().filter(|line| is_of(line, query.upstream.as_deref())).for_each(show);
        }
    });
    followed.map_or_else(|error| Exit::failure(&error), |()| Exit::Ok)
}

fn explain(path: &Path, query: &LogQuery) {
    let what = match (&query.upstream, query.since) {
        _ if !path.exists() => format!("There is no log yet at {}.", path.display()),
        (Some(name), _) => format!("The log has no lines about `{name}`."),
        (None, Some(_)) => "The log has no lines from this period.".to_owned(),
        (None, None) => "The log is empty.".to_owned(),
    };
    terminal::print_note(&what);
}

fn show(line: &LogLine) {
    if terminal::options().json {
        return terminal::print_json(serde_json::json!(line));
    }
    let colours = Palette::for_output();
    let quiet = colours.quiet;
    let style = match line.level {
        LogLevel::Error => colours.bad,
        LogLevel::Warn => colours.busy,
        LogLevel::Info => colours.good,
        LogLevel::Debug => quiet,
    };
    // The date is shown only where there is room for it.
    let (moment, width) = (format_time(line.at), terminal::width());
    let at = if width < 72 { moment.get(11..19).unwrap_or(&moment) } else { &moment };
    let upstream = line.upstream.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    let head = at.chars().count() + 7;
    let text = terminal::indented(&format!("{upstream}{}", line.text), head, width);
    let unwrapped = foreign_text::line(&line.text);
    let text = if width == usize::MAX { format!("{upstream}{unwrapped}") } else { text };
    terminal::print(&format_args!(
        "{quiet}{at}{quiet:#} {style}{:<5}{style:#} {}",
        line.level.word(),
        text.trim_start()
    ));
}
