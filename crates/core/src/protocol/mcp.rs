//! What the gateway must know of MCP: versions, methods, headers, and the few messages that it
//! reads or writes itself.

use serde::{Deserialize, Deserializer, Serialize};

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

/// The name and version of a client or server (MCP's `Implementation`). Long ones are cut when they are
/// read, because they are kept for as long as the client is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Implementation {
    #[serde(deserialize_with = "short_text")]
    pub name: String,
    #[serde(default, deserialize_with = "short_text")]
    pub version: String,
}

/// The longest name or version of a client or server, in bytes. More than is shown, because secrets are
/// removed from what is shown before it is cut.
const LONGEST_NAME: usize = 256;

fn short_text<'de, D: Deserializer<'de>>(text: D) -> Result<String, D::Error> {
    let text = String::deserialize(text)?;
    Ok(beginning(&text, LONGEST_NAME).to_owned())
}

/// At most so many bytes of a text.
fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
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

/// How much of an upstream's instructions an editor gets at most.
pub const LONGEST_INSTRUCTIONS: usize = 64 << 10;
/// Larger capabilities, or a larger `serverInfo`, are reduced to what is known.
const LARGEST_PART: usize = 64 << 10;
/// The largest capability that is kept of them.
const LARGEST_CAPABILITY: usize = 4 << 10;
/// The capabilities that are known.
const CAPABILITIES: [&str; 6] =
    ["tools", "prompts", "resources", "logging", "completions", "tasks"];

/// What an upstream reported in its handshake. Kept raw, so that an editor that connects to this
/// upstream alone gets the original values. It is kept for as long as the upstream is known, so it has
/// buffers of its own and a limited size.
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
        let revision = SessionVersion::parse(&result.text_member("protocolVersion")?)?;
        Self::of(result, revision, server_info)
    }

    /// Reads a `server/discover` result of 2026-07-28, so that editors with a session get
    /// the same values.
    pub fn from_discover(result: &Raw) -> Option<Self> {
        result.member("supportedVersions")?;
        let own = result.member("_meta").and_then(|meta| meta.member(meta::SERVER));
        let unnamed = || Raw::of(&serde_json::json!({ "name": "server", "version": "" }));
        let server_info = own.or_else(|| result.member("serverInfo")).unwrap_or_else(unnamed);
        Self::of(result, SessionVersion::LATEST, server_info)
    }

    fn of(result: &Raw, revision: SessionVersion, server_info: Raw) -> Option<Self> {
        let server: Implementation = server_info.read().ok()?;
        let server_info = match server_info.as_bytes().len() > LARGEST_PART {
            true => Raw::of(&server),
            false => server_info.copied(),
        };
        let nothing = || Raw::of(&serde_json::json!({}));
        let mut capabilities = result.member("capabilities").unwrap_or_else(nothing).copied();
        if capabilities.as_bytes().len() > LARGEST_PART {
            let all = std::mem::replace(&mut capabilities, nothing());
            for name in CAPABILITIES {
                let offered = all.member(name);
                if let Some(it) = offered.filter(|it| it.as_bytes().len() <= LARGEST_CAPABILITY) {
                    capabilities = capabilities.with(name, &it);
                }
            }
        }
        // A little more than editors get, so that it shows that there was more.
        let instructions = result
            .text_member("instructions")
            .map(|text| beginning(&text, LONGEST_INSTRUCTIONS + 4).to_owned());
        Some(Self { revision, server, capabilities, server_info, instructions })
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
    fn a_long_name_is_cut_where_it_is_read() {
        let long = "ä".repeat(1 << 20);
        let params = serde_json::json!({
            "protocolVersion": "2025-06-18",
            "clientInfo": { "name": long, "version": long },
        });
        let client = Raw::of(&params).read::<InitializeParams>().unwrap().client_info;
        assert_eq!(client.name, "ä".repeat(LONGEST_NAME / 2));
        assert!(client.version.capacity() <= LONGEST_NAME);
    }

    #[test]
    fn a_handshake_keeps_a_limited_part_of_what_a_server_says() {
        let long = "x".repeat(1 << 20);
        let result = Raw::of(&serde_json::json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": { "listChanged": true }, "prompts": { "y": long }, "x": long },
            "serverInfo": { "name": "s", "version": "1", "icons": [long] },
            "instructions": long,
        }));
        let handshake = Handshake::read(&result).unwrap();
        assert_eq!(handshake.capabilities.as_str(), r#"{"tools":{"listChanged":true}}"#);
        assert_eq!(handshake.server_info.as_str(), r#"{"name":"s","version":"1"}"#);
        let kept = handshake.instructions.unwrap();
        assert!(kept.len() > LONGEST_INSTRUCTIONS && kept.capacity() < LONGEST_INSTRUCTIONS + 8);
    }

    #[test]
    fn a_handshake_does_not_keep_the_message_that_it_was_in() {
        let result = Raw::of(&serde_json::json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "s", "version": "1" },
            "_meta": { "x": "x".repeat(8 << 20) },
        }));
        let handshake = Handshake::read(&result).unwrap();
        assert!(!handshake.capabilities.is_part_of(&result));
        assert!(!handshake.server_info.is_part_of(&result));
    }

    #[test]
    fn another_result_is_no_handshake() {
        assert_eq!(Handshake::read(&Raw::of(&serde_json::json!({ "tools": [] }))), None);
    }
}
