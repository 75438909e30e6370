//! Measures calls between an editor and a server of different MCP versions, next to calls where
//! both use the same version.
//!
//! Each server is called directly in its own version, and through the gateway in the editor's
//! version. The difference is the cost of the gateway, including the translation.

use std::time::Duration;

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_tests::Scene;
use evermoor_tests::editor::wire::{Wire, request};
use evermoor_tests::fakes::single_version::{FakeTransport, SingleVersionUpstream};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{say, shown};

const OLD: ProtocolVersion = ProtocolVersion::Session(SessionVersion::V2025_11_25);
const NEW: ProtocolVersion = ProtocolVersion::Stateless;
const ROUNDS: usize = 10;
const CALLS: usize = 100;

/// A client that speaks one MCP version.
struct VersionClient {
    wire: Wire,
    protocol_version: ProtocolVersion,
}

impl VersionClient {
    async fn new(wire: Wire, protocol_version: ProtocolVersion) -> Self {
        let wire = match protocol_version {
            ProtocolVersion::Stateless => wire,
            ProtocolVersion::Session(revision) => {
                let wire = wire.initialized(revision.as_str(), json!({})).await;
                wire.with("mcp-protocol-version", revision.as_str())
            }
        };
        Self { wire, protocol_version }
    }

    async fn call(&self) -> Value {
        let params = json!({ "name": "echo", "arguments": { "nonce": "x" } });
        let answer = match self.protocol_version {
            ProtocolVersion::Stateless => self.wire.newer(1, "tools/call", params).await,
            ProtocolVersion::Session(_) => self.wire.post(&request(1, "tools/call", params)).await,
        };
        answer.last().clone()
    }

    async fn times(&self) -> Vec<Duration> {
        let mut times = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let began = Instant::now();
            let answer = self.call().await;
            times.push(began.elapsed());
            assert_eq!(answer["result"]["content"][0]["text"], "x", "{answer}");
        }
        times
    }
}

pub(crate) async fn measure() {
    let scene = Scene::new();
    let old = SingleVersionUpstream::start(&scene, "old", OLD, FakeTransport::Http).await;
    let new = SingleVersionUpstream::start(&scene, "new", NEW, FakeTransport::Http).await;
    let gateway = scene.gateway_of("", &(old.entry() + &new.entry())).await;
    gateway.until_connected("old").await;
    gateway.until_connected("new").await;
    say("editor      server      direct p50  through p50    added p50    added p95");
    for (editor, server) in [(OLD, &old), (NEW, &new), (OLD, &new), (NEW, &old)] {
        let straight =
            VersionClient::new(Wire::direct(server.url()), server.protocol_version).await;
        let path = format!("/mcp/{}", server.name);
        let through = VersionClient::new(Wire::to(&gateway, &path), editor).await;
        let (mut direct, mut bridged) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            direct.extend(straight.times().await);
            bridged.extend(through.times().await);
        }
        direct.sort_unstable();
        bridged.sort_unstable();
        let at = |times: &[Duration], share: usize| times[(times.len() - 1) * share / 100];
        let added = |share| shown(at(&bridged, share).saturating_sub(at(&direct, share)));
        say(&format!(
            "{:<11} {:<11} {:>10}  {:>11}  {:>11}  {:>11}",
            editor.as_str(),
            server.protocol_version.as_str(),
            shown(at(&direct, 50)),
            shown(at(&bridged, 50)),
            added(50),
            added(95),
        ));
    }
}
