//! What the page of one upstream shows besides its state: what it offers, how it fared, and what a
//! call to it comes to.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[cfg(test)]
use ts_rs::TS;

use crate::failure::Failure;

/// What `/api/upstreams/{name}/catalog` answers: what the upstream offers, as last known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Catalog {
    pub tools: Vec<Tool>,
    pub prompts: Vec<Item>,
    pub resources: Vec<Item>,
}

/// A tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Tool {
    /// As the upstream calls it.
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    /// JSON Schema of its arguments.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub input_schema: Value,
    /// What the upstream says of it, such as `readOnlyHint`.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub annotations: Value,
    /// Whether the upstream's lists in `config.toml` let editors see it.
    pub shown: bool,
    /// Why a switch cannot show or hide it, if it cannot: a pattern decides about several at once.
    pub fixed: Option<String>,
}

/// A prompt or a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Item {
    /// The name of a prompt, the address of a resource.
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub shown: bool,
}

/// What `/api/upstreams/{name}/timeline` answers: spans in the order of time, without gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Timeline {
    pub spans: Vec<Span>,
}

/// A time in which an upstream was in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Span {
    /// In milliseconds of the Unix epoch.
    #[cfg_attr(test, ts(type = "number"))]
    pub from: u64,
    /// Nothing if it lasts.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub to: Option<u64>,
    pub state: SpanState,
}

/// How an upstream was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum SpanState {
    Connected,
    Connecting,
    Down,
    Paused,
    Off,
    /// No gateway watched.
    Unwatched,
}

/// What a call from the dashboard came to. One of `result` and `error` is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Trial {
    #[cfg_attr(test, ts(type = "number"))]
    pub ms: u64,
    /// What the upstream answered, as MCP has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "unknown", optional))]
    pub result: Option<Value>,
    /// Why there is no result, as JSON-RPC has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "unknown", optional))]
    pub error: Option<Value>,
}

/// What `/api/selftest` answers: whether an editor would be served now.
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
