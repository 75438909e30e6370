//! `evermoor logs`: what the gateway or the tray wrote down, also when neither runs.

use std::path::Path;
use std::time::Duration;

use evermoor_core::api::{LogLevel, LogLine};
use evermoor_core::history::incident::text::format_time;
use evermoor_gateway::monitoring::log::is_of;
use evermoor_log::read;
use evermoor_platform::clock;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::signals;

use crate::exit::Exit;
use crate::inspect::status::run_async;
use crate::terminal::{self, Palette};

/// Which lines are wanted.
pub(crate) struct Wanted {
    pub(crate) upstream: Option<String>,
    /// Of the tray, and not of the gateway.
    pub(crate) tray: bool,
    pub(crate) lines: usize,
    /// How far to look back, in milliseconds.
    pub(crate) since: Option<u64>,
}

/// A growing file is looked at this often.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

pub(crate) fn run(paths: &Paths, wanted: &Wanted, follow: bool) -> Exit {
    let path = if wanted.tray { paths.tray_log_file() } else { paths.log_file() };
    let now = clock::unix_millis();
    let from = wanted.since.map_or(0, |since| now.saturating_sub(since));
    // Who asks for a time wants all of it.
    let count = if wanted.since.is_some() { usize::MAX } else { wanted.lines };
    let mut follower = read::LogFollower::new(path.clone());
    let lines = read::newest(&path, count, |line| {
        is_of(line, wanted.upstream.as_deref()) && line.at >= from
    });
    if lines.is_empty() && !follow {
        explain(&path, wanted);
    }
    lines.iter().for_each(show);
    if !follow {
        return Exit::Ok;
    }
    let followed = run_async(async {
        loop {
            let stop = signals::stop_requested();
            if tokio::time::timeout(LOOK_AGAIN, stop).await.is_ok() {
                return;
            }
            let lines = follower.poll();
            lines.iter().filter(|line| is_of(line, wanted.upstream.as_deref())).for_each(show);
        }
    });
    followed.map_or_else(|error| Exit::failure(&error), |()| Exit::Ok)
}

fn explain(path: &Path, wanted: &Wanted) {
    let what = match (&wanted.upstream, wanted.since) {
        _ if !path.exists() => format!("Nothing has been written to {} yet.", path.display()),
        (Some(name), _) => format!("The log says nothing of `{name}`."),
        (None, Some(_)) => "Nothing was written in this time.".to_owned(),
        (None, None) => "The log is empty.".to_owned(),
    };
    terminal::remark(&what);
}

fn show(line: &LogLine) {
    if terminal::manner().json {
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
    // The day is told where there is room for it.
    let (moment, width) = (format_time(line.at), terminal::width());
    let at = if width < 72 { moment.get(11..19).unwrap_or(&moment) } else { &moment };
    let upstream = line.upstream.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    let head = at.chars().count() + 7;
    let text = terminal::indented(&format!("{upstream}{}", line.text), head, width);
    let text = if width == usize::MAX { format!("{upstream}{}", line.text) } else { text };
    terminal::print(&format_args!(
        "{quiet}{at}{quiet:#} {style}{:<5}{style:#} {}",
        line.level.word(),
        text.trim_start()
    ));
}
