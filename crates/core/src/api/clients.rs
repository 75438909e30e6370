//! The clients that are connected now.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// A client: a session, or a stateless client that sent a request recently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct ConnectedClient {
    /// The editor whose token it uses.
    pub editor: String,
    /// The client's name for itself, if it sent one.
    pub client: Option<String>,
    pub client_version: Option<String>,
    /// The MCP version in use.
    pub revision: String,
    pub transport: ClientTransport,
    /// The upstream whose endpoint it uses; `None` for the merged endpoint.
    pub view: Option<String>,
    /// When this gateway process first saw it (Unix time in milliseconds).
    #[cfg_attr(test, ts(type = "number"))]
    pub since: u64,
}

/// The transport between a client and the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum ClientTransport {
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE of MCP 2024-11-05.
    Sse,
    /// stdio, through `evermoor connect`.
    Stdio,
}
