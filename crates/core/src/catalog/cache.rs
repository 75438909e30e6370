//! The catalog file: the last known handshake and catalog of an upstream, on disk.
//!
//! A file is one JSON object: a version, the target's fingerprint, a checksum and the content. The
//! handshake result and the four lists are kept byte for byte. A file that is truncated, altered, of
//! another version or for another target is ignored; the next connection writes a new one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::catalog::list_results::ListResults;
use crate::catalog::tool_traits::ToolTraits;
use crate::catalog::{Catalog, ListKind};
use crate::protocol::json::Raw;
use crate::protocol::mcp::{Handshake, initialize_result};
use crate::protocol::version::ProtocolVersion;
use crate::protocol::version::transport::Transport;

/// Why a catalog file is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    #[error("it is corrupt")]
    Damaged,
    #[error("it was written by another version of Evermoor")]
    OtherVersion,
    #[error("it belongs to another target")]
    OtherTarget,
}

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct CacheFile<'a> {
    version: u32,
    target: String,
    sha256: String,
    #[serde(borrow, rename = "said")]
    content: &'a RawValue,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CacheContent<'a> {
    handshake: Raw,
    tools: &'a [Raw],
    prompts: &'a [Raw],
    resources: &'a [Raw],
    resource_templates: &'a [Raw],
    #[serde(rename = "dialect", skip_serializing_if = "Option::is_none")]
    transport: Option<Transport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrent: Option<bool>,
}

/// The last known handshake and catalog of an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastKnownUpstream {
    pub handshake: Handshake,
    pub catalog: Catalog,
    /// The transport that worked last time. The upstream may have changed since.
    pub transport: Option<Transport>,
    /// Whether it was seen to handle several requests at once, or seen not to.
    pub concurrent: Option<bool>,
    /// What must be known about the tools before a call.
    pub traits: ToolTraits,
    /// It was never connected: this is what its preset says.
    pub presumed: bool,
    lists: ListResults,
}

impl LastKnownUpstream {
    pub fn new(handshake: Handshake, catalog: Catalog, transport: Option<Transport>) -> Self {
        let traits = ToolTraits::of(&catalog.tools);
        let lists = ListResults::default();
        Self { handshake, catalog, transport, concurrent: None, traits, presumed: false, lists }
    }

    /// What is presumed of an upstream that was never connected.
    pub fn presumed(handshake: Handshake, catalog: Catalog) -> Self {
        Self { presumed: true, ..Self::new(handshake, catalog, None) }
    }

    /// The result of a list request.
    pub fn list_result(&self, list: ListKind) -> Raw {
        self.lists.of(list, self.catalog.list(list))
    }

    /// The same upstream with this observation.
    pub fn seen_concurrent(self, concurrent: Option<bool>) -> Self {
        Self { concurrent, ..self }
    }

    /// The MCP version it uses.
    pub fn protocol_version(&self) -> ProtocolVersion {
        match self.transport {
            Some(Transport::Stateless) => ProtocolVersion::Stateless,
            Some(Transport::Session | Transport::Events) | None => {
                ProtocolVersion::Session(self.handshake.revision)
            }
        }
    }
}

/// The file content for an upstream. `target` is its
/// [fingerprint](crate::config::TransportConfig::fingerprint).
pub fn encode(target: &str, memory: &LastKnownUpstream) -> Vec<u8> {
    let LastKnownUpstream { handshake, catalog, transport, concurrent, .. } = memory;
    let content = Raw::of(&CacheContent {
        handshake: initialize_result(
            handshake.revision,
            &handshake.capabilities,
            &handshake.server_info,
            handshake.instructions.as_deref(),
        ),
        tools: &catalog.tools,
        prompts: &catalog.prompts,
        resources: &catalog.resources,
        resource_templates: &catalog.templates,
        transport: *transport,
        concurrent: *concurrent,
    });
    let file = serde_json::json!({
        "version": VERSION,
        "target": target,
        "sha256": checksum(content.as_bytes()),
    });
    Raw::of(&file).with("said", &content).as_bytes().to_vec()
}

/// Reads a file, if it is intact and belongs to `target`.
pub fn decode(target: &str, file: &Bytes) -> Result<LastKnownUpstream, CacheError> {
    #[derive(Deserialize)]
    struct CacheHead {
        version: u32,
    }
    let head: CacheHead = serde_json::from_slice(file).map_err(|_| CacheError::Damaged)?;
    if head.version != VERSION {
        return Err(CacheError::OtherVersion);
    }
    let found: CacheFile<'_> = serde_json::from_slice(file).map_err(|_| CacheError::Damaged)?;
    let content = Raw::view(file, found.content);
    if checksum(content.as_bytes()) != found.sha256 {
        return Err(CacheError::Damaged);
    }
    if found.target != target {
        return Err(CacheError::OtherTarget);
    }
    read(&content).ok_or(CacheError::Damaged)
}

fn read(content: &Raw) -> Option<LastKnownUpstream> {
    let handshake = Handshake::read(&content.member("handshake")?)?;
    let mut catalog = Catalog::default();
    for list in ListKind::ALL {
        *catalog.list_mut(list) = content.member(list.member())?.elements()?;
    }
    // If it is missing or unknown, the next connection detects it again.
    let transport = content.member("dialect").and_then(|transport| transport.read().ok());
    let concurrent = content.member("concurrent").and_then(|concurrent| concurrent.read().ok());
    Some(LastKnownUpstream::new(handshake, catalog, transport).seen_concurrent(concurrent))
}

fn checksum(bytes: &[u8]) -> String {
    BASE64.encode(Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::mcp::SessionVersion;
    use proptest::prelude::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    fn handshake(instructions: Option<&str>) -> Handshake {
        let result = initialize_result(
            SessionVersion::V2025_06_18,
            &raw(r#"{ "tools":{"listChanged" : true}, "x":1.0 }"#),
            &raw(r#"{"name":"s","version":"1","icons":[ ]}"#),
            instructions,
        );
        Handshake::read(&result).unwrap()
    }

    fn memory(
        handshake: Handshake,
        catalog: Catalog,
        transport: Option<Transport>,
    ) -> LastKnownUpstream {
        LastKnownUpstream::new(handshake, catalog, transport)
    }

    fn file(tools: &[&str]) -> Bytes {
        let tools = tools.iter().map(|tool| raw(tool)).collect();
        let catalog = Catalog { tools, ..Catalog::default() };
        encode("here", &memory(handshake(Some("Use it.")), catalog, None)).into()
    }

    #[test]
    fn the_content_is_restored_byte_for_byte() {
        let tool = "{ \"zeta\":1.10,\n \"name\" : \"a\\u0062\", \"big\":123456789012345678901 }";
        let LastKnownUpstream { handshake, catalog, .. } = decode("here", &file(&[tool])).unwrap();
        assert_eq!(catalog.tools[0].as_str(), tool);
        assert_eq!(
            handshake.capabilities.as_str(),
            r#"{ "tools":{"listChanged" : true}, "x":1.0 }"#
        );
        assert_eq!(handshake.instructions.as_deref(), Some("Use it."));
    }

    #[test]
    fn a_file_of_another_target_is_ignored() {
        assert_eq!(decode("there", &file(&[])), Err(CacheError::OtherTarget));
    }

    #[test]
    fn a_file_of_another_version_is_ignored() {
        let text = String::from_utf8(file(&[]).to_vec()).unwrap();
        let newer = Bytes::from(text.replace("\"version\":1", "\"version\":2"));
        assert_eq!(decode("here", &newer), Err(CacheError::OtherVersion));
        assert_eq!(
            decode("here", &Bytes::from_static(b"{\"version\":2}")),
            Err(CacheError::OtherVersion)
        );
    }

    #[test]
    fn the_catalog_file_of_0_1_0_is_unchanged() {
        let file = include_bytes!("../../../../tests/fixtures/0.1.0/home/data/catalogs/notes.json");
        let target = "pGmy93L5us9zHznCxvckzaxqio5uiOWlQwCXi5epeMk";
        let known = decode(target, &Bytes::from_static(file)).unwrap();
        assert_eq!((known.catalog.tools.len(), known.transport), (4, Some(Transport::Session)));
        assert_eq!(encode(target, &known), file);
    }

    fn member() -> impl Strategy<Value = Raw> {
        (any::<String>(), any::<f64>(), "[ \n\t]{0,3}", any::<i128>()).prop_map(
            |(name, number, space, big)| {
                let name = serde_json::Value::from(name);
                let number = serde_json::Value::from(number);
                raw(&format!(
                    "{{{space}\"name\":{space}{name},\"n\" :{number},\"big\":{big}{space}}}"
                ))
            },
        )
    }

    fn members() -> impl Strategy<Value = Vec<Raw>> {
        prop::collection::vec(member(), 0..4)
    }

    proptest! {
        #[test]
        fn any_catalog_and_handshake_are_restored(
            (tools, prompts) in (members(), members()),
            (resources, templates) in (members(), members()),
            instructions: Option<String>,
            target: String,
            transport in 0_usize..4,
            concurrent: Option<bool>,
        ) {
            let catalog = Catalog { tools, prompts, resources, templates };
            let dialects =
                [None, Some(Transport::Stateless), Some(Transport::Session), Some(Transport::Events)];
            let memory = memory(handshake(instructions.as_deref()), catalog, dialects[transport]);
            let memory = memory.seen_concurrent(concurrent);
            let file = encode(&target, &memory).into();
            prop_assert_eq!(decode(&target, &file), Ok(memory));
        }

        #[test]
        fn a_truncated_or_altered_file_is_ignored(
            tools in members(),
            at: prop::sample::Index,
            bit in 0_u8..8,
        ) {
            let catalog = Catalog { tools, ..Catalog::default() };
            let whole = encode("here", &memory(handshake(None), catalog, None));
            let at = at.index(whole.len());
            prop_assert!(decode("here", &Bytes::copy_from_slice(&whole[..at])).is_err());
            let mut altered = whole;
            altered[at] ^= 1 << bit;
            prop_assert!(decode("here", &altered.into()).is_err());
        }
    }
}
