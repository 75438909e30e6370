//! The log: to a file that `evermoor logs --tray` shows, and to standard error. How much is said is up
//! to `EVERMOOR_LOG`.

use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;
use std::time::Duration;

use evermoor_core::api::LogLine;
use evermoor_core::security::scrub::scrub;
use evermoor_log::{LogLayer, LogWriter};
use evermoor_platform::paths::Paths;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt};

use crate::gateway::given;

/// How long the end of the application waits for its last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

static FILE: OnceLock<LogWriter> = OnceLock::new();

pub(crate) fn start() {
    let shown = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal());
    let kept = file().map(|file| {
        let clean = |line: LogLine| LogLine { text: scrub(&line.text).into_owned(), ..line };
        LogLayer::new(move |line| file.write(&clean(line))).with_filter(filter())
    });
    let log = tracing_subscriber::registry().with(shown.with_filter(filter())).with(kept);
    // Somebody else's log is as good.
    let _ = log.try_init();
}

/// Waits a moment until what was said is on the disk.
pub(crate) fn finish() {
    if let Some(file) = FILE.get() {
        file.finish(LAST_LINES);
    }
}

fn file() -> Option<&'static LogWriter> {
    let paths = Paths::find(given("EVERMOOR_HOME")).ok()?;
    let desk = LogWriter::start(paths.tray_log_file())?;
    Some(FILE.get_or_init(|| desk))
}

fn filter() -> EnvFilter {
    EnvFilter::try_from_env("EVERMOOR_LOG").unwrap_or_else(|_| "info".into())
}
