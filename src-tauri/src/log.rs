//! The log: to standard error, as much as `EVERMOOR_LOG` asks for.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

pub(crate) fn start() {
    let filter = EnvFilter::try_from_env("EVERMOOR_LOG").unwrap_or_else(|_| "info".into());
    let ansi = stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).with_ansi(ansi).init();
}
