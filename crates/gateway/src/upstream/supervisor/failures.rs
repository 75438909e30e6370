//! The failures that a supervisor itself reports.

use evermoor_core::catalog::limits::CatalogTooLarge;
use evermoor_core::failure::{Code, Failure};

use super::read_catalog::LISTING_LIMIT;

pub(super) fn panicked() -> Failure {
    let what = "Evermoor hit a bug while connecting to this server.";
    Failure::new(
        Code::Internal,
        what,
        "Evermoor retries automatically. Please report this with the log.",
    )
}

pub(super) fn restarted() -> Failure {
    Failure::new(Code::ConnectionLost, "Evermoor is reconnecting.", "Wait a moment.")
}

pub(super) fn being_restarted(title: &str) -> Failure {
    let what = format!("{title} was asked to restart.");
    let remedy = "Evermoor connects as soon as it answers; calls wait until then.";
    Failure::new(Code::Starting, what, remedy)
}

pub(super) fn slow_lists() -> Failure {
    let what = format!("It did not return its tool lists within {} s.", LISTING_LIMIT.as_secs());
    Failure::new(Code::Timeout, what, "Evermoor retries automatically.")
}

pub(super) fn large_lists(why: CatalogTooLarge) -> Failure {
    let remedy = "If you trust the server, raise `catalog_limit` in its entry of config.toml.";
    Failure::new(Code::Configuration, why.to_string(), remedy)
}

pub(super) fn crash_loop(failure: &Failure) -> Failure {
    let what = format!("It keeps crashing: {}", failure.what);
    Failure::new(Code::CrashLoop, what, "Fix its command. Evermoor retries once a minute.")
}
