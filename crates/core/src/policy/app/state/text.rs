//! The texts of the states.

use super::super::evidence::ExitCause;
use super::{AppHealthState, AppObservation};
use crate::preset::{ConditionText, Preset, VersionFit};

/// A note about a version that is newer than the tested ones.
pub(super) fn newer_version(preset: &Preset, facts: &AppObservation) -> Option<ConditionText> {
    let version = super::version(preset, facts, VersionFit::Newer)?;
    let before = &preset.version.as_ref()?.before;
    let title = &preset.title;
    Some(text(
        format!("{title} {version} is newer than the tested versions (before {before})."),
        "It should work. If its tools misbehave, update Evermoor.",
    ))
}

pub(super) fn describe(preset: &Preset, state: &AppHealthState) -> ConditionText {
    let title = &preset.title;
    match state {
        AppHealthState::Paused => {
            text(format!("{title} is paused."), "Resume it to use its tools again.")
        }
        AppHealthState::NotInstalled => text(
            format!("{title} is not installed."),
            match &preset.about {
                Some(url) => format!("Get it from {url}; Evermoor connects automatically."),
                None => "Install it; Evermoor connects automatically.".to_owned(),
            },
        ),
        AppHealthState::NotRunning => {
            text(format!("{title} is not running."), "Start it; Evermoor connects automatically.")
        }
        AppHealthState::Ended(cause) => text(
            cause.sentence(title),
            match cause {
                ExitCause::Quit => "Start it when you need it; your editors stay connected.",
                ExitCause::Crashed { .. }
                | ExitCause::OutOfMemory
                | ExitCause::Hung
                | ExitCause::Unknown => "Start it again; your editors stay connected.",
            },
        ),
        AppHealthState::Starting => text(
            format!("{title} is starting."),
            "Evermoor connects when it is ready; calls wait for it.",
        ),
        AppHealthState::Off => preset.off.clone().unwrap_or_else(|| {
            let ports = &preset.find.ports;
            let ports = match (ports.start(), ports.end()) {
                (from, to) if from == to => format!("port {from}"),
                (from, to) => format!("any port from {from} to {to}"),
            };
            text(format!("{title} is running but does not respond on {ports}."), "Restart it.")
        }),
        AppHealthState::HalfUp => text(
            format!("{title} is running, but its tools are not ready yet."),
            "Evermoor connects when they are ready; calls wait for them.",
        ),
        AppHealthState::Hung { silent } => text(
            format!("{title} is running but has not responded for {} s.", silent.as_secs()),
            "Restart it.",
        ),
        AppHealthState::SignedOut(words) | AppHealthState::FeatureOff { words, .. } => {
            words.clone()
        }
        AppHealthState::OldVersion { version } => {
            let from = preset.version.as_ref().map(|check| format!(" ({} or later)", check.from));
            text(
                format!(
                    "{title} {version} is older than the supported versions{}.",
                    from.unwrap_or_default()
                ),
                format!("If its tools misbehave, update {title}."),
            )
        }
        AppHealthState::Ready => text(format!("{title} is ready."), "Nothing to do."),
    }
}

fn text(what: String, remedy: impl Into<String>) -> ConditionText {
    ConditionText { what, remedy: remedy.into() }
}
