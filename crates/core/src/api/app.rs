//! The status of an app that hosts an upstream and that Evermoor watches.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

use crate::failure::Failure;
use crate::history::incident::TimedEvent;
use crate::policy::app::state::NextStep;

/// An app, as last observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct AppStatus {
    /// A short label for its state.
    pub word: String,
    /// Its state in one sentence.
    pub what: String,
    /// What to do, in one sentence.
    pub remedy: String,
    /// The action to offer.
    pub next: NextStep,
    /// Additional remarks.
    pub notes: Vec<String>,
    pub version: Option<String>,
    /// The port it was found on.
    pub port: Option<u16>,
    /// Its process id, if known.
    pub pid: Option<u32>,
    /// In bytes.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub memory: Option<u64>,
    /// The alarm threshold in bytes, from the preset or the configuration.
    #[serde(default)]
    #[cfg_attr(test, ts(type = "number | null"))]
    pub memory_alarm: Option<u64>,
    /// In thousandths of one CPU.
    pub load: Option<u32>,
    /// How its memory use develops, in one sentence.
    pub trend: Option<String>,
    /// A suggestion to the user, in one sentence.
    pub offer: Option<String>,
    /// It works, but the user is signed out, so some of its tools do not work.
    #[serde(default)]
    pub signed_out: bool,
    /// It exited too often; Evermoor starts it again only when the user asks.
    #[serde(default)]
    pub gave_up: bool,
    /// The current or the last restart.
    pub restart: Option<RestartProgress>,
}

/// The steps of a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct RestartProgress {
    /// Counts this app's restarts.
    #[cfg_attr(test, ts(type = "number"))]
    pub number: u64,
    /// When it started (Unix time in milliseconds).
    #[cfg_attr(test, ts(type = "number"))]
    pub began: u64,
    pub steps: Vec<TimedEvent>,
    /// The result; `None` while it is in progress.
    pub end: Option<RestartResult>,
}

/// The result of a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct RestartResult {
    /// Unix time in milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
}
