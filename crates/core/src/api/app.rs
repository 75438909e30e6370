//! What people are shown of an application that Evermoor looks after.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

use crate::failure::Failure;
use crate::history::incident::Event;
use crate::policy::app::state::Next;

/// An application, as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct App {
    /// How it stands, in a word or two.
    pub word: String,
    /// How it stands, in a sentence.
    pub what: String,
    /// What to do, in a sentence.
    pub remedy: String,
    /// The one thing that helps.
    pub next: Next,
    /// What else is worth knowing.
    pub notes: Vec<String>,
    pub version: Option<String>,
    /// Where it was found.
    pub port: Option<u16>,
    /// Its process, where that can be seen.
    pub pid: Option<u32>,
    /// In bytes.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub memory: Option<u64>,
    /// From how much on that is too much, in bytes: as its preset says, or the person.
    #[serde(default)]
    #[cfg_attr(test, ts(type = "number | null"))]
    pub memory_alarm: Option<u64>,
    /// In thousandths of one processor.
    pub load: Option<u32>,
    /// Where its memory is going, in a sentence.
    pub trend: Option<String>,
    /// What a person is offered, in a sentence.
    pub offer: Option<String>,
    /// It works, and its owner is signed out of it: some of its tools need that.
    #[serde(default)]
    pub signed_out: bool,
    /// It ended too often: it is not started again until a person asks for it.
    #[serde(default)]
    pub gave_up: bool,
    /// The restart that is under way, or the last one.
    pub restart: Option<Restart>,
}

/// A restart, step by step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Restart {
    /// Counts the restarts of this application.
    #[cfg_attr(test, ts(type = "number"))]
    pub number: u64,
    /// When it began, in milliseconds of the Unix epoch.
    #[cfg_attr(test, ts(type = "number"))]
    pub began: u64,
    pub steps: Vec<Event>,
    /// How it ended; nothing while it is under way.
    pub end: Option<RestartEnd>,
}

/// How a restart ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct RestartEnd {
    /// In milliseconds of the Unix epoch.
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
}
