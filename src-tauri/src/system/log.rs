//! The tray's log: a file that `evermoor logs --tray` shows, and stderr. `EVERMOOR_LOG` sets the
//! level.

use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;
use std::time::Duration;

use evermoor_core::security::redaction::patterns::scrub;
use evermoor_log::{LogLayer, LogWriter};
use evermoor_platform::paths::Paths;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt};

use crate::gateway::given;

/// How long to wait on exit for the last lines to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

static FILE: OnceLock<LogWriter> = OnceLock::new();

pub(crate) fn start() {
    let shown = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal());
    let kept = file().map(|file| {
        let scrub = |text: &str| scrub(text).into_owned();
        LogLayer::new(scrub, move |line| file.write(&line)).with_filter(filter())
    });
    let log = tracing_subscriber::registry().with(shown.with_filter(filter())).with(kept);
    // This fails only if a log is already set up, which serves as well.
    let _ = log.try_init();
}

/// Waits until the last lines are on disk, up to [`FLUSH_TIMEOUT`].
pub(crate) fn finish() {
    if let Some(file) = FILE.get() {
        file.finish(FLUSH_TIMEOUT);
    }
}

fn file() -> Option<&'static LogWriter> {
    let paths = Paths::find(given("EVERMOOR_HOME")).ok()?;
    let writer = LogWriter::start(paths.tray_log_file())?;
    Some(FILE.get_or_init(|| writer))
}

fn filter() -> EnvFilter {
    EnvFilter::try_from_env("EVERMOOR_LOG").unwrap_or_else(|_| "info".into())
}
