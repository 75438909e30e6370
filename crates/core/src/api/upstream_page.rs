//! The dashboard page of one upstream: its catalog, its timeline, and the result of a trial call.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[cfg(test)]
use ts_rs::TS;

use crate::failure::Failure;

/// The answer of `/api/upstreams/{name}/catalog`: the last known catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct CatalogListing {
    pub tools: Vec<ToolListing>,
    pub prompts: Vec<CatalogEntry>,
    pub resources: Vec<CatalogEntry>,
}

/// A tool of an upstream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct ToolListing {
    /// The upstream's name for it.
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    /// JSON Schema of its arguments.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub input_schema: Value,
    /// The annotations of the upstream, such as `readOnlyHint`.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub annotations: Value,
    /// Whether the upstream's lists in `config.toml` show it to editors.
    pub shown: bool,
    /// Why the dashboard cannot show or hide it, if a pattern covers several tools at once.
    pub fixed: Option<String>,
}

/// A prompt or a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct CatalogEntry {
    /// The name of a prompt or the URI of a resource.
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub shown: bool,
}

/// The answer of `/api/upstreams/{name}/timeline`: spans without gaps, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Timeline {
    pub spans: Vec<TimelineSpan>,
}

/// A period in which an upstream was in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct TimelineSpan {
    /// Unix time in milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub from: u64,
    /// `None` if it has not ended.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub to: Option<u64>,
    pub state: TimelineState,
}

/// The state of an upstream during a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum TimelineState {
    Connected,
    Connecting,
    Down,
    Paused,
    Off,
    /// No gateway was running.
    Unwatched,
}

/// The result of a trial call from the dashboard. Either `result` or `error` is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct TrialCallResult {
    #[cfg_attr(test, ts(type = "number"))]
    pub ms: u64,
    /// The MCP result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "unknown", optional))]
    pub result: Option<Value>,
    /// The JSON-RPC error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "unknown", optional))]
    pub error: Option<Value>,
}

/// The answer of `/api/selftest`: whether the gateway would serve an editor now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct SelfTest {
    pub ok: bool,
    #[cfg_attr(test, ts(type = "number"))]
    pub ms: u64,
    /// How many tools were listed.
    pub tools: u32,
    pub failure: Option<Failure>,
}
