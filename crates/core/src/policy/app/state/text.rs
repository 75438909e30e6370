//! What a person reads about each state.

use super::super::evidence::Cause;
use super::{Facts, State};
use crate::preset::{Fit, Preset, Words};

pub(super) fn newer(preset: &Preset, facts: &Facts) -> Option<Words> {
    let version = super::version(preset, facts, Fit::Newer)?;
    let before = &preset.version.as_ref()?.before;
    let title = &preset.title;
    Some(say(
        format!("{title} {version} is newer than what Evermoor knows, which is before {before}."),
        "It is used all the same. Update Evermoor if its tools misbehave.",
    ))
}

pub(super) fn words(preset: &Preset, state: &State) -> Words {
    let title = &preset.title;
    match state {
        State::Paused => {
            say(format!("{title} is paused."), "Resume it when you want its tools back.")
        }
        State::NotInstalled => say(
            format!("{title} is not installed."),
            match &preset.about {
                Some(about) => format!("Get it from {about}; it is connected by itself."),
                None => "Install it; it is connected by itself.".to_owned(),
            },
        ),
        State::NotRunning => {
            say(format!("{title} is not running."), "Start it; it is connected by itself.")
        }
        State::Ended(cause) => say(
            cause.sentence(title),
            match cause {
                Cause::Quit => "Start it when you need it; your editors stay connected.",
                Cause::Crashed { .. } | Cause::OutOfMemory | Cause::Hung | Cause::Unknown => {
                    "Start it again; your editors stay connected meanwhile."
                }
            },
        ),
        State::Starting => say(
            format!("{title} is starting."),
            "It is connected as soon as it answers; calls wait for it.",
        ),
        State::Off => preset.off.clone().unwrap_or_else(|| {
            let ports = &preset.find.ports;
            let place = match (ports.start(), ports.end()) {
                (from, to) if from == to => format!("port {from}"),
                (from, to) => format!("any port from {from} to {to}"),
            };
            say(format!("{title} is running, but does not answer at {place}."), "Restart it.")
        }),
        State::HalfUp => say(
            format!("{title} is running, but its tools are not ready yet."),
            "They are connected as soon as they answer; calls wait for them.",
        ),
        State::Hung { silent } => say(
            format!("{title} is running, but has not answered for {} seconds.", silent.as_secs()),
            "Restart it.",
        ),
        State::SignedOut(words) | State::FeatureOff { words, .. } => words.clone(),
        State::OldVersion { version } => {
            let from = preset.version.as_ref().map(|check| format!(" ({} and later)", check.from));
            say(
                format!(
                    "{title} {version} is older than what Evermoor knows{}.",
                    from.unwrap_or_default()
                ),
                format!("Update {title} if its tools misbehave."),
            )
        }
        State::Ready => say(format!("{title} is ready."), "Nothing needs to be done."),
    }
}

fn say(what: String, remedy: impl Into<String>) -> Words {
    Words { what, remedy: remedy.into() }
}
