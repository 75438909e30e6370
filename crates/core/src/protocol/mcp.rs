//! What the gateway must know of MCP: versions, methods, headers, and the few messages that it
//! reads or writes itself.

use serde::{Deserialize, Serialize};

use crate::protocol::json::Raw;
use crate::protocol::translate::client_capabilities::ClientCapabilities;

/// A protocol version with a handshake and sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionVersion {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
}

impl SessionVersion {
    pub const ALL: [Self; 4] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25];

    /// What the gateway offers if the other side asks for an unknown version.
    pub const LATEST: Self = Self::V2025_11_25;

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
        }
    }
}

/// The protocol version without a handshake, in which every request is self-contained.
pub const STATELESS: &str = "2026-07-28";

/// Header names, in lower case as HTTP libraries expect them.
pub mod header {
    pub const SESSION: &str = "mcp-session-id";
    pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
}

/// Methods that the gateway treats specially. All others pass through.
pub mod method {
    pub const INITIALIZE: &str = "initialize";
    pub const INITIALIZED: &str = "notifications/initialized";
    pub const DISCOVER: &str = "server/discover";
    pub const PING: &str = "ping";
    pub const TOOLS_LIST: &str = "tools/list";
    pub const TOOLS_CALL: &str = "tools/call";
    pub const PROMPTS_LIST: &str = "prompts/list";
    pub const PROMPTS_GET: &str = "prompts/get";
    pub const RESOURCES_LIST: &str = "resources/list";
    pub const RESOURCES_READ: &str = "resources/read";
    pub const TEMPLATES_LIST: &str = "resources/templates/list";
    pub const SUBSCRIBE: &str = "resources/subscribe";
    pub const UNSUBSCRIBE: &str = "resources/unsubscribe";
    pub const SET_LEVEL: &str = "logging/setLevel";
    pub const COMPLETE: &str = "completion/complete";
    pub const TASKS_GET: &str = "tasks/get";
    pub const TASKS_RESULT: &str = "tasks/result";
    pub const TASKS_LIST: &str = "tasks/list";
    pub const TASKS_UPDATE: &str = "tasks/update";
    pub const TASKS_CANCEL: &str = "tasks/cancel";
    pub const LISTEN: &str = "subscriptions/listen";
    pub const CANCELLED: &str = "notifications/cancelled";
    pub const PROGRESS: &str = "notifications/progress";
    pub const LOG: &str = "notifications/message";
    pub const RESOURCE_UPDATED: &str = "notifications/resources/updated";
}

/// The name and version of a client or server (MCP's `Implementation`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Implementation {
    pub name: String,
    #[serde(default)]
    pub version: String,
}

/// The parameters of `initialize` that the gateway uses.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    pub protocol_version: String,
    #[serde(default)]
    pub client_info: Implementation,
}

/// The parameters of the `initialize` request that the gateway sends to an upstream.
pub fn initialize_params(revision: SessionVersion, version: &str) -> Raw {
    Raw::of(&serde_json::json!({
        "protocolVersion": revision.as_str(),
        "capabilities": ClientCapabilities::ALL.capabilities(),
        "clientInfo": { "name": "evermoor", "title": "Evermoor", "version": version },
    }))
}

/// The keys of `_meta` that replace the handshake in 2026-07-28.
pub mod meta {
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    pub const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
    pub const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    pub const SERVER: &str = "io.modelcontextprotocol/serverInfo";
    pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
}

/// What an upstream reported in its handshake. Kept raw, so that an editor that connects to this
/// upstream alone gets the original values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handshake {
    pub revision: SessionVersion,
    pub server: Implementation,
    pub capabilities: Raw,
    pub server_info: Raw,
    pub instructions: Option<String>,
}

impl Handshake {
    /// Reads an `initialize` result. `None` if it is not one, or has an unknown protocol version.
    pub fn read(result: &Raw) -> Option<Self> {
        let server_info = result.member("serverInfo")?;
        Some(Self {
            revision: SessionVersion::parse(&result.text_member("protocolVersion")?)?,
            server: server_info.read().ok()?,
            capabilities: result
                .member("capabilities")
                .unwrap_or_else(|| Raw::of(&serde_json::json!({}))),
            server_info,
            instructions: result.text_member("instructions"),
        })
    }

    /// Reads a `server/discover` result of 2026-07-28, so that editors with a session get
    /// the same values.
    pub fn from_discover(result: &Raw) -> Option<Self> {
        result.member("supportedVersions")?;
        let own = result.member("_meta").and_then(|meta| meta.member(meta::SERVER));
        let unnamed = || Raw::of(&serde_json::json!({ "name": "server", "version": "" }));
        let server_info = own.or_else(|| result.member("serverInfo")).unwrap_or_else(unnamed);
        Some(Self {
            revision: SessionVersion::LATEST,
            server: server_info.read().ok()?,
            capabilities: result
                .member("capabilities")
                .unwrap_or_else(|| Raw::of(&serde_json::json!({}))),
            server_info,
            instructions: result.text_member("instructions"),
        })
    }

    /// Whether the upstream supports `resources/subscribe`.
    pub fn supports_subscribe(&self) -> bool {
        let subscribe =
            self.capabilities.member("resources").and_then(|all| all.member("subscribe"));
        subscribe.is_some_and(|subscribe| subscribe.as_str() == "true")
    }

    /// Whether the upstream has this capability (`tools`, `prompts`, `resources`).
    pub fn offers(&self, capability: &str) -> bool {
        self.capabilities.member(capability).is_some()
    }
}

/// The result of an editor's `initialize`.
pub fn initialize_result(
    revision: SessionVersion,
    capabilities: &Raw,
    server_info: &Raw,
    instructions: Option<&str>,
) -> Raw {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct InitializeResult<'a> {
        protocol_version: &'a str,
        capabilities: &'a Raw,
        server_info: &'a Raw,
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<&'a str>,
    }
    Raw::of(&InitializeResult {
        protocol_version: revision.as_str(),
        capabilities,
        server_info,
        instructions,
    })
}

/// The `serverInfo` of the gateway, for editors that connect to all upstreams at once.
pub fn gateway_info(version: &str) -> Raw {
    Raw::of(&serde_json::json!({ "name": "evermoor", "title": "Evermoor", "version": version }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_parsed_from_its_date() {
        for revision in SessionVersion::ALL {
            assert_eq!(SessionVersion::parse(revision.as_str()), Some(revision));
        }
        assert_eq!(SessionVersion::parse("2023-01-01"), None);
    }

    #[test]
    fn a_handshake_keeps_the_original_values() {
        let result = Raw::parse(bytes::Bytes::from_static(
            br#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"x":{}},"serverInfo":{"name":"s","version":"1","icons":[]},"instructions":"Use it."}"#,
        ))
        .unwrap();
        let handshake = Handshake::read(&result).unwrap();
        assert_eq!(handshake.revision, SessionVersion::V2025_06_18);
        assert!(handshake.offers("tools") && !handshake.offers("prompts"));
        assert_eq!(handshake.server_info.as_str(), r#"{"name":"s","version":"1","icons":[]}"#);
        assert_eq!(handshake.instructions.as_deref(), Some("Use it."));
    }

    #[test]
    fn another_result_is_no_handshake() {
        assert_eq!(Handshake::read(&Raw::of(&serde_json::json!({ "tools": [] }))), None);
    }
}
