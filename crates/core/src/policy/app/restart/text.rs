//! What a person reads while an application is restarted.

use std::time::Duration;

use super::Stage;
use crate::failure::{Code, Failure};

pub(super) fn draining(calls: usize) -> String {
    match calls {
        1 => "Waiting for a call to end.".into(),
        calls => format!("Waiting for {calls} calls to end."),
    }
}

pub(super) fn not_drained() -> String {
    "Some calls did not end in time; they are told that nobody knows what became of them.".into()
}

pub(super) fn own_way(title: &str) -> String {
    format!("Asking {title} to restart itself.")
}

pub(super) fn own_way_failed(title: &str, why: Option<&str>) -> String {
    match why {
        Some(why) => format!("{title} would not restart itself: {}", sentence(why)),
        None => format!("{title} did not restart itself in time."),
    }
}

pub(super) fn quit(title: &str) -> String {
    format!("Asking {title} to quit.")
}

pub(super) fn quit_failed(title: &str, why: &str) -> String {
    format!("{title} would not quit: {}", sentence(why))
}

pub(super) fn end(title: &str) -> String {
    format!("Ending {title}.")
}

pub(super) fn force(title: &str) -> String {
    format!("{title} does not end when asked. Ending it by force.")
}

pub(super) fn gone(title: &str) -> String {
    format!("{title} has ended.")
}

pub(super) fn launch(title: &str) -> String {
    format!("Starting {title}.")
}

pub(super) fn answering(title: &str) -> String {
    format!("{title} runs again. Waiting for its tools.")
}

pub(super) fn still_the_old(title: &str) -> String {
    format!("The {title} from before still answers; that is no restart yet.")
}

pub(super) fn proven(title: &str, took: Duration) -> String {
    format!("{title} is back, after {:.1} s.", took.as_secs_f64())
}

pub(super) fn failed(
    title: &str,
    at: Stage,
    why: Option<&str>,
    unsaved_work: bool,
    ways: usize,
) -> Failure {
    let why = why.map(|why| format!(": {}", sentence(why)));
    let ended = |what: &str| match &why {
        Some(why) => format!("{what}{why}"),
        None => format!("{what}."),
    };
    let (code, what, remedy) = match at {
        Stage::OwnWay => (
            Code::Timeout,
            ended(&format!("{title} did not restart itself")),
            format!("Quit {title} and start it yourself; Evermoor does not know how to launch it."),
        ),
        Stage::Quit if unsaved_work => (
            Code::Timeout,
            ended(&format!("{title} did not quit when it was asked")),
            format!(
                "Look at {title}: it may be asking about unsaved work. It is not ended by force."
            ),
        ),
        Stage::Quit | Stage::End => (
            Code::Timeout,
            ended(&format!("{title} could not be ended")),
            format!("End {title} yourself, then start it; it is connected by itself."),
        ),
        Stage::Launch if ways == 0 => (
            Code::NotRunning,
            format!("Evermoor does not know how to launch {title} on this machine."),
            format!("Start {title} yourself; it is connected by itself."),
        ),
        Stage::Launch => (
            Code::NotRunning,
            ended(&format!("{title} could not be launched")),
            format!("Start {title} yourself; it is connected by itself."),
        ),
        Stage::Answer => (
            Code::Starting,
            format!("{title} runs again, but its tools do not answer yet."),
            "They are connected as soon as they answer; if they never do, look at its log.".into(),
        ),
    };
    Failure { code, what, remedy }
}

/// A reason as a sentence, whoever wrote it.
fn sentence(why: &str) -> String {
    let why = why.trim();
    if why.is_empty() {
        return "it did not say why.".into();
    }
    format!("{}.", why.trim_end_matches('.'))
}
