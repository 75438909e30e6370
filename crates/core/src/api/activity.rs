//! Recent calls and their latencies, for the dashboard.
//!
//! Arguments and results of calls are deliberately absent.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// A call that was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct RecentCall {
    /// Increases by one with each call that this gateway answers.
    #[cfg_attr(test, ts(type = "number"))]
    pub number: u64,
    /// When it arrived (Unix time in milliseconds).
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// The editor whose token the call carried.
    pub editor: String,
    /// The client's name for itself, if it sent one.
    pub client: Option<String>,
    /// The upstream it was routed to; `None` if there is none for it.
    pub upstream: Option<String>,
    /// The tool, prompt or resource, by its upstream's name for it.
    pub tool: String,
    pub outcome: CallOutcome,
    /// The time from arrival to answer.
    #[cfg_attr(test, ts(type = "number"))]
    pub ms: u64,
    /// How much of that time the call was held because its upstream was down.
    #[cfg_attr(test, ts(type = "number"))]
    pub held_ms: u64,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum CallOutcome {
    /// The upstream answered with a result.
    Ok,
    /// The upstream answered with an error.
    ToolError,
    /// It was not sent, so it did not run.
    NotSent,
    /// It was sent, but it is unknown whether it ran.
    Unknown,
    /// The editor cancelled it.
    Cancelled,
    /// It was refused: the item does not exist, or this editor may not see it.
    Refused,
}

/// The answer of `/api/activity`, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct RecentCalls {
    pub calls: Vec<RecentCall>,
}

/// Latency percentiles of the calls of one minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct LatencyPoint {
    /// When the minute started (Unix time in milliseconds).
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// The median.
    #[cfg_attr(test, ts(type = "number"))]
    pub p50_ms: u64,
    /// The 95th percentile.
    #[cfg_attr(test, ts(type = "number"))]
    pub p95_ms: u64,
    pub calls: u32,
}

/// The answer of `/api/upstreams/{name}/latency`, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Latency {
    pub points: Vec<LatencyPoint>,
}
