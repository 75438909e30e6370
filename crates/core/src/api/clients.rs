//! Who is connected at this moment.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// One conversation with the gateway: a session, or an editor without one that spoke lately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Attached {
    /// Whose token it uses.
    pub editor: String,
    /// What the program calls itself, if it said so.
    pub client: Option<String>,
    pub client_version: Option<String>,
    /// The revision of MCP that is spoken.
    pub revision: String,
    pub transport: Wire,
    /// The one upstream that it sees; nothing if it sees all of them in one.
    pub view: Option<String>,
    /// When it was first heard, in this life of the gateway (milliseconds of the Unix epoch).
    #[cfg_attr(test, ts(type = "number"))]
    pub since: u64,
}

/// How an editor reaches the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum Wire {
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events, as in 2024-11-05.
    Sse,
    /// Standard input and output, through `evermoor connect`.
    Stdio,
}
