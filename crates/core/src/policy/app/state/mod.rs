//! The state of an app, from what was just observed, with a text and the next step.
//!
//! Nothing is remembered: every state is computed from fresh observations, so it is never stale. A
//! version newer than the tested ones adds a note and changes nothing else. `text` has the
//! texts of the states.

#[cfg(test)]
mod tests;
mod text;

use std::time::Duration;

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

use super::evidence::ExitCause;
use crate::failure::{Code, Failure};
use crate::preset::{ConditionKind, ConditionText, Preset, VersionFit};
use text::{describe, newer_version};

/// What was observed of an app.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppObservation {
    /// The user paused it, so nothing else was observed.
    pub paused: bool,
    /// Whether it is installed; `None` where that cannot be determined.
    pub installed: Option<bool>,
    /// Evermoor has just launched it.
    pub launching: bool,
    /// For how long its process has been running, if there is one.
    pub running: Option<Duration>,
    /// The port where the app identified itself.
    pub port: Option<u16>,
    /// For how long it has not responded, if it responded before in this run.
    pub silent: Option<Duration>,
    /// Whether it responds to MCP.
    pub answers_mcp: bool,
    /// The version that it reports.
    pub version: Option<String>,
    /// Whether each of the preset's `tells` holds, in their order; `None` if the app did not say.
    pub conditions: Vec<Option<bool>>,
    /// Why its last run ended, if no other has begun since.
    pub ended: Option<ExitCause>,
}

/// The state of an app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppHealthState {
    Paused,
    NotInstalled,
    NotRunning,
    /// Its process exited and has not come back.
    Ended(ExitCause),
    Starting,
    /// It is running but responds on none of its ports, or its MCP server is turned off.
    Off,
    /// It responds, but its MCP server does not yet.
    HalfUp,
    /// It is running and has stopped responding.
    Hung {
        silent: Duration,
    },
    SignedOut(ConditionText),
    FeatureOff {
        name: String,
        words: ConditionText,
    },
    /// It is connected, but older than the supported versions.
    OldVersion {
        version: String,
    },
    Ready,
}

/// The state of an app with its text, the next step, and notes about lesser states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppHealth {
    pub state: AppHealthState,
    pub words: ConditionText,
    pub next: NextStep,
    pub notes: Vec<ConditionText>,
}

/// What the user should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS), ts(rename = "Next"))]
pub enum NextStep {
    Nothing,
    Wait,
    Install,
    Start,
    Restart,
    Resume,
    /// Something in the app itself: sign in, turn on a feature, update.
    Open,
}

/// How long a new process may take to respond on a port.
const STARTUP_TIME: Duration = Duration::from_secs(60);
/// An app that has not responded for this long hangs.
pub const HUNG_AFTER: Duration = Duration::from_secs(20);

impl AppHealth {
    pub fn of(preset: &Preset, facts: &AppObservation) -> Self {
        let mut states = states(preset, facts);
        let state = states.remove(0);
        let words = describe(preset, &state);
        let notes = states.iter().map(|state| describe(preset, state));
        let notes = notes.chain(newer_version(preset, facts)).collect();
        Self { next: state.next(preset), words, notes, state }
    }

    /// The state as a failure; `None` while the app can be used.
    pub fn failure(&self) -> Option<Failure> {
        let ConditionText { what, remedy } = self.words.clone();
        self.state.code().map(|code| Failure { code, what, remedy })
    }
}

impl AppHealthState {
    /// Whether its tools can be called. Signed out or with a feature off, only some of them fail,
    /// and the app itself says why.
    pub fn is_usable(&self) -> bool {
        match self {
            Self::Ready
            | Self::SignedOut(_)
            | Self::FeatureOff { .. }
            | Self::OldVersion { .. } => true,
            Self::Paused
            | Self::NotInstalled
            | Self::NotRunning
            | Self::Ended(_)
            | Self::Starting
            | Self::Off
            | Self::HalfUp
            | Self::Hung { .. } => false,
        }
    }

    /// A label of one or two words, for a row of a list.
    pub fn word(&self) -> &'static str {
        match self {
            Self::OldVersion { .. } => "Old version",
            Self::Ready => "Connected",
            Self::HalfUp => "Not ready",
            Self::SignedOut(_) => "Signed out",
            Self::FeatureOff { .. } => "Feature off",
            Self::Ended(ExitCause::Unknown | ExitCause::Hung) => "Exited",
            Self::Paused
            | Self::NotInstalled
            | Self::NotRunning
            | Self::Ended(_)
            | Self::Starting
            | Self::Off
            | Self::Hung { .. } => self.code().map_or("", Code::word),
        }
    }

    fn code(&self) -> Option<Code> {
        Some(match self {
            Self::Paused => Code::Paused,
            Self::NotInstalled => Code::NotInstalled,
            Self::NotRunning | Self::Ended(ExitCause::Unknown | ExitCause::Hung) => {
                Code::NotRunning
            }
            Self::Ended(ExitCause::Crashed { .. } | ExitCause::OutOfMemory) => Code::Crashed,
            Self::Ended(ExitCause::Quit) => Code::Quit,
            Self::Starting | Self::HalfUp => Code::Starting,
            Self::Off => Code::NotMcp,
            Self::Hung { .. } => Code::Timeout,
            Self::Ready
            | Self::SignedOut(_)
            | Self::FeatureOff { .. }
            | Self::OldVersion { .. } => return None,
        })
    }

    fn next(&self, preset: &Preset) -> NextStep {
        match self {
            Self::Paused => NextStep::Resume,
            Self::NotInstalled => NextStep::Install,
            Self::NotRunning | Self::Ended(_) => NextStep::Start,
            Self::Starting | Self::HalfUp => NextStep::Wait,
            Self::Off if preset.off.is_none() => NextStep::Restart,
            Self::Off | Self::SignedOut(_) | Self::FeatureOff { .. } | Self::OldVersion { .. } => {
                NextStep::Open
            }
            Self::Hung { .. } => NextStep::Restart,
            Self::Ready => NextStep::Nothing,
        }
    }
}

/// The state, followed by the lesser ones that also hold.
fn states(preset: &Preset, facts: &AppObservation) -> Vec<AppHealthState> {
    if facts.paused {
        return vec![AppHealthState::Paused];
    }
    if facts.running.is_none() && facts.port.is_none() {
        return vec![match &facts.ended {
            _ if facts.launching => AppHealthState::Starting,
            Some(cause) => AppHealthState::Ended(cause.clone()),
            None if facts.installed == Some(false) => AppHealthState::NotInstalled,
            None => AppHealthState::NotRunning,
        }];
    }
    // An app that responded on a port before and now on none hangs at once.
    let is_hung = |silent: &Duration| *silent >= HUNG_AFTER || facts.port.is_none();
    if let Some(silent) = facts.silent.filter(is_hung) {
        return vec![AppHealthState::Hung { silent }];
    }
    if facts.port.is_none() {
        let is_new = facts.running.is_some_and(|age| age < STARTUP_TIME);
        return vec![if facts.launching || is_new {
            AppHealthState::Starting
        } else {
            AppHealthState::Off
        }];
    }
    if !facts.answers_mcp {
        return vec![AppHealthState::HalfUp];
    }
    usable(preset, facts)
}

fn usable(preset: &Preset, facts: &AppObservation) -> Vec<AppHealthState> {
    let conditions = preset
        .tells
        .iter()
        .zip(&facts.conditions)
        .filter(|(_, conditions)| **conditions == Some(true));
    let mut states: Vec<AppHealthState> = conditions
        .map(|(tell, _)| match &tell.kind {
            ConditionKind::SignedOut => AppHealthState::SignedOut(tell.words.clone()),
            ConditionKind::FeatureOff { name } => {
                AppHealthState::FeatureOff { name: name.clone(), words: tell.words.clone() }
            }
        })
        .collect();
    states.extend(
        version(preset, facts, VersionFit::Older)
            .map(|version| AppHealthState::OldVersion { version: version.to_owned() }),
    );
    if states.is_empty() {
        states.push(AppHealthState::Ready);
    }
    states
}

/// The version, if it compares like this with the supported range.
fn version<'f>(preset: &Preset, facts: &'f AppObservation, fit: VersionFit) -> Option<&'f str> {
    let check = preset.version.as_ref()?;
    facts.version.as_deref().filter(|version| check.fit(version) == fit)
}
