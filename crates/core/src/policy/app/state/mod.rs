//! The state of an app, from what was just observed, with a text and the next step.
//!
//! Nothing is remembered: every state is computed from fresh observations, so it is never stale. A
//! version newer than the tested ones adds a note and changes nothing else.

#[cfg(test)]
mod tests;
mod text;

use std::time::Duration;

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

use super::evidence::Cause;
use crate::failure::{Code, Failure};
use crate::preset::{Fit, Preset, TellKind, Words};
use text::{describe, newer_version};

/// What was observed of an app.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
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
    pub serves: bool,
    /// The version that it reports.
    pub version: Option<String>,
    /// Whether each of the preset's `tells` holds, in their order; `None` if the app did not say.
    pub told: Vec<Option<bool>>,
    /// Why its last run ended, if no other has begun since.
    pub ended: Option<Cause>,
}

/// The state of an app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Paused,
    NotInstalled,
    NotRunning,
    /// Its process exited and has not come back.
    Ended(Cause),
    Starting,
    /// It is running but responds on none of its ports, or its MCP server is turned off.
    Off,
    /// It responds, but its MCP server does not yet.
    HalfUp,
    /// It is running and has stopped responding.
    Hung {
        silent: Duration,
    },
    SignedOut(Words),
    FeatureOff {
        name: String,
        words: Words,
    },
    /// It is connected, but older than the supported versions.
    OldVersion {
        version: String,
    },
    Ready,
}

/// The state of an app with its text, the next step, and notes about lesser states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub state: State,
    pub words: Words,
    pub next: Next,
    pub notes: Vec<Words>,
}

/// What the user should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS), ts(rename = "Next"))]
pub enum Next {
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
pub const HUNG: Duration = Duration::from_secs(20);

impl Standing {
    pub fn of(preset: &Preset, facts: &Facts) -> Self {
        let mut states = states(preset, facts);
        let state = states.remove(0);
        let words = describe(preset, &state);
        let notes = states.iter().map(|state| describe(preset, state));
        let notes = notes.chain(newer_version(preset, facts)).collect();
        Self { next: state.next(preset), words, notes, state }
    }

    /// The state as a failure; `None` while the app can be used.
    pub fn failure(&self) -> Option<Failure> {
        let Words { what, remedy } = self.words.clone();
        self.state.code().map(|code| Failure { code, what, remedy })
    }
}

impl State {
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
            Self::Ended(Cause::Unknown | Cause::Hung) => "Exited",
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
            Self::NotRunning | Self::Ended(Cause::Unknown | Cause::Hung) => Code::NotRunning,
            Self::Ended(Cause::Crashed { .. } | Cause::OutOfMemory) => Code::Crashed,
            Self::Ended(Cause::Quit) => Code::Quit,
            Self::Starting | Self::HalfUp => Code::Starting,
            Self::Off => Code::NotMcp,
            Self::Hung { .. } => Code::Timeout,
            Self::Ready
            | Self::SignedOut(_)
            | Self::FeatureOff { .. }
            | Self::OldVersion { .. } => return None,
        })
    }

    fn next(&self, preset: &Preset) -> Next {
        match self {
            Self::Paused => Next::Resume,
            Self::NotInstalled => Next::Install,
            Self::NotRunning | Self::Ended(_) => Next::Start,
            Self::Starting | Self::HalfUp => Next::Wait,
            Self::Off if preset.off.is_none() => Next::Restart,
            Self::Off | Self::SignedOut(_) | Self::FeatureOff { .. } | Self::OldVersion { .. } => {
                Next::Open
            }
            Self::Hung { .. } => Next::Restart,
            Self::Ready => Next::Nothing,
        }
    }
}

/// The state, followed by the lesser ones that also hold.
fn states(preset: &Preset, facts: &Facts) -> Vec<State> {
    if facts.paused {
        return vec![State::Paused];
    }
    if facts.running.is_none() && facts.port.is_none() {
        return vec![match &facts.ended {
            _ if facts.launching => State::Starting,
            Some(cause) => State::Ended(cause.clone()),
            None if facts.installed == Some(false) => State::NotInstalled,
            None => State::NotRunning,
        }];
    }
    // An app that responded on a port before and now on none hangs at once.
    let is_hung = |silent: &Duration| *silent >= HUNG || facts.port.is_none();
    if let Some(silent) = facts.silent.filter(is_hung) {
        return vec![State::Hung { silent }];
    }
    if facts.port.is_none() {
        let is_new = facts.running.is_some_and(|age| age < STARTUP_TIME);
        return vec![if facts.launching || is_new { State::Starting } else { State::Off }];
    }
    if !facts.serves {
        return vec![State::HalfUp];
    }
    usable(preset, facts)
}

fn usable(preset: &Preset, facts: &Facts) -> Vec<State> {
    let told = preset.tells.iter().zip(&facts.told).filter(|(_, told)| **told == Some(true));
    let mut states: Vec<State> = told
        .map(|(tell, _)| match &tell.kind {
            TellKind::SignedOut => State::SignedOut(tell.words.clone()),
            TellKind::FeatureOff { name } => {
                State::FeatureOff { name: name.clone(), words: tell.words.clone() }
            }
        })
        .collect();
    states.extend(
        version(preset, facts, Fit::Older)
            .map(|version| State::OldVersion { version: version.to_owned() }),
    );
    if states.is_empty() {
        states.push(State::Ready);
    }
    states
}

/// The version, if it compares like this with the supported range.
fn version<'f>(preset: &Preset, facts: &'f Facts, fit: Fit) -> Option<&'f str> {
    let check = preset.version.as_ref()?;
    facts.version.as_deref().filter(|version| check.fit(version) == fit)
}
