//! An upstream of one MCP version behind a gateway, and editors with and without sessions.

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_tests::Scene;
use evermoor_tests::editor::wire::{Wire, WireEvents, request};
use evermoor_tests::fakes::single_version::{FakeTransport, SingleVersionUpstream};
use evermoor_tests::gateway::Gateway;
use reqwest::Method;
use serde_json::{Value, json};

pub(crate) const OLD: ProtocolVersion = ProtocolVersion::Session(SessionVersion::V2025_11_25);
pub(crate) const NEW: ProtocolVersion = ProtocolVersion::Stateless;

/// All client capabilities.
pub(crate) fn able() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
}

pub(crate) struct World {
    pub(crate) scene: Scene,
    pub(crate) upstream: SingleVersionUpstream,
    pub(crate) gateway: Gateway,
}

impl World {
    pub(crate) async fn new(protocol_version: ProtocolVersion, transport: FakeTransport) -> Self {
        let scene = Scene::new();
        let upstream =
            SingleVersionUpstream::start(&scene, "era", protocol_version, transport).await;
        let gateway = scene.gateway_of("", &upstream.entry()).await;
        gateway.until_connected("era").await;
        Self { scene, upstream, gateway }
    }

    /// A 2026-07-28 client.
    pub(crate) fn newer(&self) -> Wire {
        Wire::to(&self.gateway, "/mcp/era")
    }

    /// A client with a session.
    pub(crate) async fn older(&self, revision: SessionVersion, capabilities: Value) -> Wire {
        Wire::to(&self.gateway, "/mcp/era").initialized(revision.as_str(), capabilities).await
    }
}

/// The text of a tool's result.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// Calls a tool as a client with all capabilities.
pub(crate) async fn call(wire: &Wire, tool: &str) -> Value {
    wire.post(&request(1, "tools/call", json!({ "name": tool }))).await.last().clone()
}

/// Calls a tool, and answers the server's request with `answer`. Returns the request and the
/// result.
pub(crate) async fn converse(
    wire: &Wire,
    id: u64,
    message: (&str, Value),
    answer: Value,
) -> (Value, Value) {
    let both = "application/json, text/event-stream";
    let sent = request(id, message.0, message.1);
    let mut events = WireEvents::of(wire.send(Method::POST, Some(&sent), both).await);
    let (_, asked) = events.next().await.expect("a question");
    let reply = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer });
    wire.post(&reply).await;
    let (_, last) = events.next().await.expect("an answer");
    (asked, last)
}
