//! The texts that the user reads during a restart.

use std::time::Duration;

use super::RestartStage;
use crate::failure::{Code, Failure};

pub(super) fn draining(calls: usize) -> String {
    match calls {
        1 => "Waiting for 1 call to finish.".into(),
        calls => format!("Waiting for {calls} calls to finish."),
    }
}

pub(super) fn not_drained() -> String {
    "Some calls did not finish in time. Their outcome is reported as unknown.".into()
}

pub(super) fn self_restart(title: &str) -> String {
    format!("Asking {title} to restart itself.")
}

pub(super) fn self_restart_failed(title: &str, why: Option<&str>) -> String {
    match why {
        Some(why) => format!("{title} could not restart itself: {}", sentence(why)),
        None => format!("{title} did not restart itself in time."),
    }
}

pub(super) fn quit(title: &str) -> String {
    format!("Asking {title} to quit.")
}

pub(super) fn quit_failed(title: &str, why: &str) -> String {
    format!("{title} could not quit: {}", sentence(why))
}

pub(super) fn stop(title: &str) -> String {
    format!("Stopping {title}.")
}

pub(super) fn kill(title: &str) -> String {
    format!("{title} did not stop when asked. Killing it.")
}

pub(super) fn exited(title: &str) -> String {
    format!("{title} exited.")
}

pub(super) fn launch(title: &str) -> String {
    format!("Starting {title}.")
}

pub(super) fn running(title: &str) -> String {
    format!("{title} is running again. Waiting for its tools.")
}

pub(super) fn still_the_old_run(title: &str) -> String {
    format!("The old {title} process still responds; it has not restarted yet.")
}

pub(super) fn restarted(title: &str, took: Duration) -> String {
    format!("{title} is back after {:.1} s.", took.as_secs_f64())
}

pub(super) fn failed(
    title: &str,
    at: RestartStage,
    why: Option<&str>,
    unsaved_work: bool,
    launch_methods: usize,
) -> Failure {
    let with_reason = |what: String| match why {
        Some(why) => format!("{what}: {}", sentence(why)),
        None => format!("{what}."),
    };
    let start = || format!("Start {title} yourself; Evermoor connects automatically.");
    let (code, what, remedy) = match at {
        RestartStage::SelfRestart => (
            Code::Timeout,
            with_reason(format!("{title} did not restart itself")),
            format!(
                "Quit {title} and start it again yourself; Evermoor does not know how to launch it."
            ),
        ),
        RestartStage::Quit if unsaved_work => (
            Code::Timeout,
            with_reason(format!("{title} did not quit when asked")),
            format!(
                "Check {title}; it may be asking about unsaved work. Apps that may hold unsaved work are never killed."
            ),
        ),
        RestartStage::Quit | RestartStage::End => (
            Code::Timeout,
            with_reason(format!("{title} could not be stopped")),
            format!("Quit {title} yourself and start it again; Evermoor connects automatically."),
        ),
        RestartStage::Launch if launch_methods == 0 => (
            Code::NotRunning,
            format!("Evermoor does not know how to launch {title} on this computer."),
            start(),
        ),
        RestartStage::Launch => {
            (Code::NotRunning, with_reason(format!("{title} could not be launched")), start())
        }
        RestartStage::Answer => (
            Code::Starting,
            format!("{title} is running again, but its tools do not respond yet."),
            "Evermoor connects as soon as they respond. If this continues, check its log.".into(),
        ),
    };
    Failure { code, what, remedy }
}

/// A reason as a sentence that ends in one full stop.
fn sentence(why: &str) -> String {
    let why = why.trim();
    if why.is_empty() {
        return "it gave no reason.".into();
    }
    format!("{}.", why.trim_end_matches('.'))
}
