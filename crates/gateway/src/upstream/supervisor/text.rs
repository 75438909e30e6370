//! What a supervisor says of an upstream.

use evermoor_core::failure::{Code, Failure};

use super::LISTING_LIMIT;

pub(super) fn panicked() -> Failure {
    let what = "Evermoor made a mistake while it looked after this upstream.";
    Failure::new(Code::Internal, what, "It starts over by itself; please report it with the log.")
}

pub(super) fn restarted() -> Failure {
    Failure::new(Code::ConnectionLost, "The connection is being made anew.", "Wait a moment.")
}

pub(super) fn being_restarted(title: &str) -> Failure {
    let what = format!("{title} was asked to restart.");
    Failure::new(Code::Starting, what, "It is connected as soon as it answers; calls wait for it.")
}

pub(super) fn slow_lists() -> Failure {
    let what = format!("It did not list what it offers within {} s.", LISTING_LIMIT.as_secs());
    Failure::new(Code::Timeout, what, "Evermoor tries again by itself.")
}

pub(super) fn crash_loop(failure: &Failure) -> Failure {
    let what = format!("It keeps crashing: {}", failure.what);
    Failure::new(Code::CrashLoop, what, "Correct its command; Evermoor tries once a minute.")
}
