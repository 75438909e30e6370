//! Content that an older editor cannot read is converted.

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_tests::editor::wire::request;
use evermoor_tests::fakes::single_version::FakeTransport;
use serde_json::{Value, json};

use super::fixture::{NEW, OLD, World, call};

#[tokio::test]
async fn every_editor_can_read_what_a_newer_server_returns() {
    for protocol_version in [NEW, OLD] {
        let world = World::new(protocol_version, FakeTransport::Http).await;
        for revision in SessionVersion::ALL {
            let wire = world.older(revision, json!({})).await;
            let result = call(&wire, "content").await["result"].clone();
            let kinds: Vec<&str> = kinds(&result);
            let wanted = match revision {
                SessionVersion::V2024_11_05 => vec!["text", "text", "text"],
                SessionVersion::V2025_03_26 => vec!["text", "audio", "text"],
                _ if protocol_version == NEW => vec!["resource_link", "audio", "text"],
                // An editor of the server's version gets exactly what the server sent.
                SessionVersion::V2025_06_18 => vec!["resource_link", "audio", "text"],
                SessionVersion::V2025_11_25 => vec!["resource_link", "audio"],
            };
            assert_eq!(kinds, wanted, "{protocol_version:?} to {revision:?}");
            assert_eq!(result["structuredContent"], json!({ "a": 1 }));
            assert_eq!(result.get("resultType"), None);
        }
    }
}

#[tokio::test]
async fn non_object_results_are_wrapped_for_older_editors_and_their_schema_is_hidden() {
    let world = World::new(NEW, FakeTransport::Http).await;
    let wire = world.older(SessionVersion::V2025_11_25, json!({})).await;
    let result = call(&wire, "number").await["result"].clone();
    assert_eq!(result["structuredContent"], json!({ "result": 7 }));
    assert_eq!(result["content"], json!([{ "type": "text", "text": "7" }]));
    let listed = wire.post(&request(2, "tools/list", json!({}))).await.last().clone();
    let tools = listed["result"]["tools"].as_array().unwrap();
    let number = tools.iter().find(|tool| tool["name"] == "number").unwrap();
    assert_eq!(number.get("outputSchema"), None);
    let own = world.newer().newer(3, "tools/call", json!({ "name": "number" })).await;
    assert_eq!(own.last()["result"]["structuredContent"], 7);
}

fn kinds(result: &Value) -> Vec<&str> {
    let blocks = result["content"].as_array().unwrap();
    blocks.iter().map(|block| block["type"].as_str().unwrap()).collect()
}
