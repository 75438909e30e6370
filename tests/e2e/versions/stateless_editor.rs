//! 2026-07-28 editors with servers of every older version.

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_tests::editor::wire::WireEvents;
use evermoor_tests::fakes::single_version::FakeTransport;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::fixture::{NEW, OLD, World, text};

const LEVEL: &str = "io.modelcontextprotocol/logLevel";

#[tokio::test]
async fn requests_to_older_servers_lose_newer_fields_and_their_answers_gain_them() {
    for (protocol_version, transport) in [
        (ProtocolVersion::Session(SessionVersion::V2024_11_05), FakeTransport::Sse),
        (ProtocolVersion::Session(SessionVersion::V2025_03_26), FakeTransport::Http),
        (OLD, FakeTransport::Stdio),
    ] {
        let world = World::new(protocol_version, transport).await;
        let wire = world.newer();
        let answer = wire.newer(1, "tools/call", json!({ "name": "seen" })).await.last().clone();
        let seen: Value = serde_json::from_str(text(&answer)).unwrap();
        assert_eq!(seen["params"], json!({ "name": "seen" }), "{protocol_version:?}");
        assert_eq!(seen["headers"].get("mcp-method"), None);
        assert_eq!(answer["result"]["resultType"], "complete");
        for list in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
            let result = wire.newer(2, list, json!({})).await.last()["result"].clone();
            assert_eq!(result["resultType"], "complete", "{list}");
            assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "private", "{result}");
        }
        let read = wire.newer(3, "resources/read", json!({ "uri": "note:1" })).await;
        assert!(read.last()["result"]["ttlMs"].is_u64());
        let gone = wire.newer(4, "resources/read", json!({ "uri": "note:2" })).await;
        assert_eq!(gone.code(), Some(-32602));
        let reference = json!({ "type": "ref/prompt", "name": "greet" });
        let argument = json!({ "name": "x", "value": "" });
        let complete =
            json!({ "ref": reference, "argument": argument, "context": { "arguments": {} } });
        let completed = wire.newer(5, "completion/complete", complete).await;
        let known = if protocol_version == OLD { "context" } else { "no context" };
        assert_eq!(completed.last()["result"]["completion"]["values"][0], known);
        let vendor = wire.newer(6, "vendor/echo", json!({ "x": 1 })).await.last().clone();
        assert_eq!(
            (&vendor["result"]["x"], &vendor["result"]["resultType"]),
            (&json!(1), &json!("complete"))
        );
        let unknown = wire.newer(7, "vendor/nothing", json!({})).await;
        assert_eq!((unknown.status.as_u16(), unknown.code()), (404, Some(-32601)));
    }
}

#[tokio::test]
async fn a_result_that_mentions_evermoors_own_answers_is_passed_on_like_any_other() {
    let world = World::new(NEW, FakeTransport::Http).await;
    let wire = world.newer();
    let mut results = Vec::new();
    for nonce in ["plain", "dev.evermoor/outcome"] {
        let params = json!({ "name": "echo", "arguments": { "nonce": nonce } });
        let answer = wire.newer(1, "tools/call", params).await.last().clone();
        results.push(answer["result"].to_string().replace(nonce, "x"));
    }
    assert_eq!(results[0], results[1]);
}

#[tokio::test]
async fn log_messages_arrive_only_on_the_call_that_asked_for_them() {
    for transport in [FakeTransport::Http, FakeTransport::Stdio] {
        let world = World::new(OLD, transport).await;
        let log = |level: Option<&str>| {
            let (wire, mut message) =
                world.newer().stating(1, "tools/call", json!({ "name": "log" }));
            if let Some(level) = level {
                message["params"]["_meta"][LEVEL] = level.into();
            }
            (wire, message)
        };
        let (wire, message) = log(Some("info"));
        let answer = wire.post(&message).await;
        assert_eq!(answer.messages.len(), 2, "{transport:?}: {answer:?}");
        assert_eq!(answer.messages[0].1["method"], "notifications/message");
        let (wire, message) = log(Some("error"));
        assert_eq!(wire.post(&message).await.messages.len(), 1);
        let (wire, message) = log(None);
        assert_eq!(wire.post(&message).await.messages.len(), 1);
        assert_eq!(world.upstream.ledger.executions("level info"), 1, "once is enough");
    }
}

#[tokio::test]
async fn disconnecting_cancels_at_an_older_server_over_every_transport() {
    for (protocol_version, transport) in [
        (ProtocolVersion::Session(SessionVersion::V2024_11_05), FakeTransport::Sse),
        (OLD, FakeTransport::Http),
        (OLD, FakeTransport::Stdio),
    ] {
        let world = World::new(protocol_version, transport).await;
        let params = json!({ "name": "wait", "arguments": { "nonce": "w" } });
        let (wire, message) = world.newer().stating(1, "tools/call", params);
        let mut hanging_up = JoinSet::new();
        hanging_up.spawn(async move { wire.post(&message).await });
        world.upstream.ledger.until_executed("w").await;
        hanging_up.shutdown().await;
        world.upstream.ledger.until_executed("cancelled w").await;
    }
}

#[tokio::test]
async fn a_subscription_to_an_older_server_survives_its_death() {
    let mut world = World::new(OLD, FakeTransport::Http).await;
    let wanted = json!({ "toolsListChanged": true, "resourceSubscriptions": ["note:1"] });
    let params = json!({ "notifications": wanted });
    let (wire, message) = world.newer().stating(9, "subscriptions/listen", params);
    let both = "application/json, text/event-stream";
    let mut notifications = WireEvents::of(wire.send(Method::POST, Some(&message), both).await);
    let (_, first) = notifications.next().await.unwrap();
    assert_eq!(first["params"]["notifications"], wanted);
    let ledger = world.upstream.ledger.clone();
    ledger.until_executed("resources/subscribe note:1").await;
    for life in [1, 2] {
        world.newer().newer(1, "tools/call", json!({ "name": "touch" })).await;
        let (_, notification) = notifications.next().await.unwrap();
        assert_eq!(
            notification["method"], "notifications/resources/updated",
            "in life {life}: {notification}"
        );
        assert_eq!(notification["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 9);
        if life == 1 {
            world.upstream.kill().await;
            world.gateway.until_down("era").await;
            world.upstream.start_again().await;
            world.gateway.until_connected("era").await;
        }
    }
    world.newer().newer(1, "tools/call", json!({ "name": "grow" })).await;
    let (_, notification) = notifications.next().await.unwrap();
    assert_eq!(notification["method"], "notifications/tools/list_changed");
}
