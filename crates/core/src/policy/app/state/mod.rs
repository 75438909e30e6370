//! How an application stands, from what was observed a moment ago, in a sentence with the next step.
//!
//! Nothing here is remembered: whoever asks brings fresh facts, so a state is never a lie that was
//! true once. A newer version than the known ones is worth a word and changes nothing else.

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
use text::{newer, words};

/// What was observed of an application.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// A person paused it: nothing else was looked at.
    pub paused: bool,
    /// Whether it is on this machine; unknown where that cannot be told.
    pub installed: Option<bool>,
    /// It was launched a moment ago, by Evermoor or through it.
    pub launching: bool,
    /// For how long its process has been running, if one does.
    pub running: Option<Duration>,
    /// The port at which it is known by its identity.
    pub port: Option<u16>,
    /// For how long it has answered nothing, while it ran and had answered before.
    pub silent: Option<Duration>,
    /// Whether it answers MCP.
    pub serves: bool,
    /// As it says it itself.
    pub version: Option<String>,
    /// What it tells of itself, in the order of the preset's `tells`; `None` if it did not say.
    pub told: Vec<Option<bool>>,
    /// How its last run ended, if none has begun since.
    pub ended: Option<Cause>,
}

/// How it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Paused,
    NotInstalled,
    NotRunning,
    /// It crashed, was quit, or ended otherwise, and has not come back.
    Ended(Cause),
    Starting,
    /// It runs and answers at none of its ports, or its MCP server is turned off.
    Off,
    /// It answers, and its MCP server does not yet.
    HalfUp,
    /// It runs, answered once, and answers no more.
    Hung {
        silent: Duration,
    },
    SignedOut(Words),
    FeatureOff {
        name: String,
        words: Words,
    },
    /// It serves, and is older than what is known.
    OldVersion {
        version: String,
    },
    Ready,
}

/// How it stands, and what else is worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub state: State,
    pub words: Words,
    pub next: Next,
    pub notes: Vec<Words>,
}

/// The one thing that helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum Next {
    Nothing,
    Wait,
    Install,
    Start,
    Restart,
    Resume,
    /// Something in the application itself: sign in, turn on, update.
    Open,
}

/// A process may take this long until it answers at a port.
pub const STARTING: Duration = Duration::from_secs(60);
/// Who answers nothing for this long hangs. Who works on something is not asked this hard.
pub const HUNG: Duration = Duration::from_secs(20);

impl Standing {
    pub fn of(preset: &Preset, facts: &Facts) -> Self {
        let mut states = states(preset, facts);
        let state = states.remove(0);
        let words = words(preset, &state);
        let notes = states.iter().map(|state| text::words(preset, state));
        let notes = notes.chain(newer(preset, facts)).collect();
        Self { next: state.next(preset), words, notes, state }
    }

    /// What a reader may want to choose by and act on; `None` while it can be used.
    pub fn failure(&self) -> Option<Failure> {
        let Words { what, remedy } = self.words.clone();
        self.state.code().map(|code| Failure { code, what, remedy })
    }
}

impl State {
    /// Whether its tools can be called. What it tells of itself takes away some of them at most,
    /// and it says so itself when they are called.
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

    /// The state in a word or two, for a row.
    pub fn word(&self) -> &'static str {
        match self {
            Self::OldVersion { .. } => "Old version",
            Self::Ready => "Connected",
            Self::HalfUp => "Half up",
            Self::SignedOut(_) => "Signed out",
            Self::FeatureOff { .. } => "Partly off",
            Self::Ended(Cause::Unknown | Cause::Hung) => "Ended",
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

/// The state, and behind it the lesser ones that hold as well.
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
    // Who answered at a port before, and now at none, hangs from the first moment.
    let hangs = |silent: &Duration| *silent >= HUNG || facts.port.is_none();
    if let Some(silent) = facts.silent.filter(hangs) {
        return vec![State::Hung { silent }];
    }
    if facts.port.is_none() {
        let young = facts.running.is_some_and(|age| age < STARTING);
        return vec![if facts.launching || young { State::Starting } else { State::Off }];
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

/// The version, if it stands so to the window of those that are known.
fn version<'f>(preset: &Preset, facts: &'f Facts, fit: Fit) -> Option<&'f str> {
    let check = preset.version.as_ref()?;
    facts.version.as_deref().filter(|version| check.fit(version) == fit)
}
