//! Editors with sessions and 2026-07-28 servers.

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_tests::Scene;
use evermoor_tests::editor::wire::request;
use evermoor_tests::fakes::single_version::{FakeTransport, SingleVersionUpstream};
use serde_json::{Value, json};

use super::fixture::{NEW, World, able, call, converse, text};

const META: &str = "io.modelcontextprotocol/";

#[tokio::test]
async fn requests_to_newer_servers_name_the_client_and_their_answers_lose_newer_fields() {
    for transport in [FakeTransport::Http, FakeTransport::Stdio] {
        let world = World::new(NEW, transport).await;
        let wire = world.older(SessionVersion::V2025_06_18, json!({ "roots": {} })).await;
        let seeing = json!({ "name": "seen", "arguments": { "region": "north" } });
        let answer = wire.post(&request(1, "tools/call", seeing)).await.last().clone();
        let seen: Value = serde_json::from_str(text(&answer)).unwrap();
        let said = &seen["params"]["_meta"];
        assert_eq!(said[format!("{META}protocolVersion")], "2026-07-28");
        assert_eq!(said[format!("{META}clientInfo")]["name"], "wire");
        assert!(said[format!("{META}clientCapabilities")].get("roots").is_some());
        if transport == FakeTransport::Http {
            assert_eq!(seen["headers"]["mcp-method"], "tools/call");
            assert_eq!(seen["headers"]["mcp-name"], "seen");
            assert_eq!(seen["headers"]["mcp-param-region"], "north");
        }
        for list in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
            let result = wire.post(&request(2, list, json!({}))).await.last()["result"].clone();
            for mark in ["resultType", "ttlMs", "cacheScope", "_meta"] {
                assert_eq!(result.get(mark), None, "{list}: {result}");
            }
        }
        assert_eq!(wire.post(&request(3, "ping", json!({}))).await.last()["result"], json!({}));
    }
}

#[tokio::test]
async fn a_call_held_for_a_newer_server_is_sent_with_the_headers_that_repeat_its_arguments() {
    let mut world = World::new(NEW, FakeTransport::Http).await;
    let wire = world.older(SessionVersion::V2025_06_18, json!({})).await;
    world.upstream.kill().await;
    world.gateway.until_down("era").await;
    let seeing = json!({ "name": "seen", "arguments": { "region": "north" } });
    let held = request(1, "tools/call", seeing);
    let (answer, ()) = tokio::join!(wire.post(&held), world.upstream.start_again());
    let seen: Value = serde_json::from_str(text(answer.last())).unwrap();
    assert_eq!(seen["headers"]["mcp-param-region"], "north");
}

#[tokio::test]
async fn required_input_is_requested_from_the_editor_and_the_state_returns_byte_for_byte() {
    for transport in [FakeTransport::Http, FakeTransport::Stdio] {
        let world = World::new(NEW, transport).await;
        let wire = world.older(SessionVersion::V2025_11_25, able()).await;
        for (tool, method, answer) in [
            (
                "ask",
                "elicitation/create",
                json!({ "action": "accept", "content": { "name": "Ada" } }),
            ),
            ("link", "elicitation/create", json!({ "action": "accept" })),
            (
                "sample",
                "sampling/createMessage",
                json!({ "role": "assistant", "model": "m", "content": {} }),
            ),
            ("roots", "roots/list", json!({ "roots": [] })),
        ] {
            let message = ("tools/call", json!({ "name": tool }));
            let (asked, last) = converse(&wire, 4, message, answer.clone()).await;
            assert_eq!(asked["method"], method);
            assert_eq!(tool == "link", asked["params"].get("elicitationId").is_some());
            let said: Value = serde_json::from_str(text(&last)).unwrap();
            assert_eq!((said, &last["id"]), (answer, &json!(4)));
            assert_eq!(world.upstream.ledger.executions(tool), 1);
        }
        let again = call(&wire, "again").await;
        assert_eq!(text(&again), "asked again");
    }
}

#[tokio::test]
async fn an_editor_without_the_capability_gets_a_result_that_its_model_can_read() {
    let world = World::new(NEW, FakeTransport::Http).await;
    let wire = world.older(SessionVersion::V2024_11_05, json!({})).await;
    let answer = call(&wire, "ask").await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text(&answer).contains("elicitation"), "{answer}");
}

#[tokio::test]
async fn one_stream_serves_the_subscriptions_of_all_editors() {
    for transport in [FakeTransport::Http, FakeTransport::Stdio] {
        let world = World::new(NEW, transport).await;
        let ledger = world.upstream.ledger.clone();
        let one = world.older(SessionVersion::V2025_06_18, json!({})).await;
        let other = world.older(SessionVersion::V2025_11_25, json!({})).await;
        let (mut subscribed, mut none) = (one.listen(None).await, other.listen(None).await);
        let subscribe = |method: &str, uri: &str| request(5, method, json!({ "uri": uri }));
        one.post(&subscribe("resources/subscribe", "note:1")).await;
        ledger.until_executed("listens [\"note:1\"]").await;
        other.post(&subscribe("resources/subscribe", "note:2")).await;
        ledger.until_executed("listens [\"note:1\",\"note:2\"]").await;
        call(&one, "touch").await;
        let (_, notification) = subscribed.next().await.unwrap();
        assert_eq!(notification["method"], "notifications/resources/updated");
        assert_eq!(
            notification["params"],
            json!({ "uri": "note:1" }),
            "without the number of our stream"
        );
        call(&one, "grow").await;
        for notifications in [&mut subscribed, &mut none] {
            // Changes made while one stream replaced the other may arrive on both.
            let mut notification = json!({});
            while notification["method"] != "notifications/tools/list_changed" {
                notification = notifications.next().await.unwrap().1;
            }
        }
    }
}

#[tokio::test]
async fn cancelling_reaches_a_newer_server_over_every_transport() {
    for transport in [FakeTransport::Http, FakeTransport::Stdio] {
        let world = World::new(NEW, transport).await;
        let wire = world.older(SessionVersion::V2025_06_18, json!({})).await;
        let params = json!({ "name": "wait", "arguments": { "nonce": "w" } });
        let waiting = request(7, "tools/call", params);
        let gone = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
        let cancel = async {
            world.upstream.ledger.until_executed("w").await;
            wire.post(&gone).await;
        };
        let (answer, ()) = tokio::join!(wire.post(&waiting), cancel);
        assert!(answer.messages.is_empty());
        world.upstream.ledger.until_executed("cancelled w").await;
    }
}

#[tokio::test]
async fn log_messages_of_a_newer_server_reach_an_editor_that_set_a_level() {
    for transport in [FakeTransport::Http, FakeTransport::Stdio] {
        let world = World::new(NEW, transport).await;
        let wire = world.older(SessionVersion::V2025_06_18, json!({})).await;
        assert_eq!(
            wire.post(&request(1, "tools/call", json!({ "name": "log" }))).await.messages.len(),
            1
        );
        let mut notifications = wire.listen(None).await;
        wire.post(&request(2, "logging/setLevel", json!({ "level": "info" }))).await;
        let answer = wire.post(&request(3, "tools/call", json!({ "name": "log" }))).await;
        let notification = match transport {
            FakeTransport::Http | FakeTransport::Sse => answer.messages[0].1.clone(),
            // Over stdio, notifications do not say which subscription they belong to.
            FakeTransport::Stdio => notifications.next().await.unwrap().1,
        };
        assert_eq!(notification["method"], "notifications/message");
    }
}

#[tokio::test]
async fn a_server_that_refuses_its_own_version_once_is_asked_again_without_initialize() {
    for transport in [FakeTransport::Http, FakeTransport::Stdio] {
        let scene = Scene::new();
        std::fs::write(scene.path("era.hesitates"), "").unwrap();
        let upstream = SingleVersionUpstream::start(&scene, "era", NEW, transport).await;
        let gateway = scene.gateway_of("", &upstream.entry()).await;
        gateway.until_connected("era").await;
        assert_eq!(upstream.ledger.executions("refused initialize"), 0, "{transport:?}");
        let result = gateway.editor("/mcp/era").await.call("echo", &json!({ "nonce": "n" })).await;
        assert_eq!(result["content"][0]["text"], "n");
    }
}
