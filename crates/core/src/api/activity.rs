//! Calls as people see them: who called what, what became of it, how long it took.
//!
//! There is no place here for what a call said or what it was answered.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// One call of an editor that has got its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Call {
    /// Grows with every call that this gateway answers.
    #[cfg_attr(test, ts(type = "number"))]
    pub number: u64,
    /// When it came (milliseconds of the Unix epoch).
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// Whose token it came with.
    pub editor: String,
    /// What the editor calls itself, if it said so.
    pub client: Option<String>,
    /// Who was to answer; nothing if nobody was found.
    pub upstream: Option<String>,
    /// The tool, prompt or resource, as its upstream calls it.
    pub tool: String,
    pub outcome: CallOutcome,
    /// From its arrival to its answer.
    #[cfg_attr(test, ts(type = "number"))]
    pub ms: u64,
    /// How much of that it waited for an upstream that was away.
    #[cfg_attr(test, ts(type = "number"))]
    pub held_ms: u64,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum CallOutcome {
    /// Its upstream answered.
    Ok,
    /// Its upstream answered that it failed.
    ToolError,
    /// It certainly did not run.
    NotSent,
    /// Nobody knows whether it ran.
    Unknown,
    /// The editor did not want its answer any more.
    Cancelled,
    /// It was turned away: there is no such thing, or this editor is not shown it.
    Refused,
}

/// What `/api/activity` answers, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Activity {
    pub calls: Vec<Call>,
}

/// How long the calls of a minute took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct LatencyPoint {
    /// When the minute began (milliseconds of the Unix epoch).
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// Half of them took no longer.
    #[cfg_attr(test, ts(type = "number"))]
    pub p50_ms: u64,
    /// Nineteen of twenty took no longer.
    #[cfg_attr(test, ts(type = "number"))]
    pub p95_ms: u64,
    pub calls: u32,
}

/// What `/api/upstreams/{name}/latency` answers, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Latency {
    pub points: Vec<LatencyPoint>,
}
