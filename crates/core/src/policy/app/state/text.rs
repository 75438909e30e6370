//! The texts of the states.

use super::super::evidence::Cause;
use super::{Facts, State};
use crate::preset::{Fit, Preset, Words};

/// A note about a version that is newer than the tested ones.
pub(super) fn newer_version(preset: &Preset, facts: &Facts) -> Option<Words> {
    let version = super::version(preset, facts, Fit::Newer)?;
    let before = &preset.version.as_ref()?.before;
    let title = &preset.title;
    Some(text(
        format!("{title} {version} is newer than the tested versions (before {before})."),
        "It should work. If its tools misbehave, update Evermoor.",
    ))
}

pub(super) fn describe(preset: &Preset, state: &State) -> Words {
    let title = &preset.title;
    match state {
        State::Paused => text(format!("{title} is paused."), "Resume it to use its tools again."),
        State::NotInstalled => text(
            format!("{title} is not installed."),
            match &preset.about {
                Some(url) => format!("Get it from {url}; Evermoor connects automatically."),
                None => "Install it; Evermoor connects automatically.".to_owned(),
            },
        ),
        State::NotRunning => {
            text(format!("{title} is not running."), "Start it; Evermoor connects automatically.")
        }
        State::Ended(cause) => text(
            cause.sentence(title),
            match cause {
                Cause::Quit => "Start it when you need it; your editors stay connected.",
                Cause::Crashed { .. } | Cause::OutOfMemory | Cause::Hung | Cause::Unknown => {
                    "Start it again; your editors stay connected."
                }
            },
        ),
        State::Starting => text(
            format!("{title} is starting."),
            "Evermoor connects when it is ready; calls wait for it.",
        ),
        State::Off => preset.off.clone().unwrap_or_else(|| {
            let ports = &preset.find.ports;
            let ports = match (ports.start(), ports.end()) {
                (from, to) if from == to => format!("port {from}"),
                (from, to) => format!("any port from {from} to {to}"),
            };
            text(format!("{title} is running but does not respond on {ports}."), "Restart it.")
        }),
        State::HalfUp => text(
            format!("{title} is running, but its tools are not ready yet."),
            "Evermoor connects when they are ready; calls wait for them.",
        ),
        State::Hung { silent } => text(
            format!("{title} is running but has not responded for {} s.", silent.as_secs()),
            "Restart it.",
        ),
        State::SignedOut(words) | State::FeatureOff { words, .. } => words.clone(),
        State::OldVersion { version } => {
            let from = preset.version.as_ref().map(|check| format!(" ({} or later)", check.from));
            text(
                format!(
                    "{title} {version} is older than the supported versions{}.",
                    from.unwrap_or_default()
                ),
                format!("If its tools misbehave, update {title}."),
            )
        }
        State::Ready => text(format!("{title} is ready."), "Nothing to do."),
    }
}

fn text(what: String, remedy: impl Into<String>) -> Words {
    Words { what, remedy: remedy.into() }
}
