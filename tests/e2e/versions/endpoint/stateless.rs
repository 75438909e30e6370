//! 2026-07-28 editors: each request is self-contained.

use evermoor_tests::Scene;
use evermoor_tests::editor::wire::{Wire, WireEvents, request};
use evermoor_tests::fakes::upstream::script::Act;
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::task::JoinSet;

#[tokio::test]
async fn discovery_answers_at_once_whatever_the_upstreams_do() {
    let scene = Scene::new();
    let (gateway, _upstream) = scene.gateway_in_outage("notes").await;
    let answer = Wire::to(&gateway, "/mcp/notes").newer(1, "server/discover", json!({})).await;
    assert_eq!((answer.status, answer.session.as_deref()), (StatusCode::OK, None));
    let result = &answer.last()["result"];
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "fake");
    let listed = Wire::to(&gateway, "/mcp/notes").newer(2, "tools/list", json!({})).await;
    let result = &listed.last()["result"];
    assert_eq!(result["tools"][0]["name"], "record");
    assert_eq!(
        (&result["resultType"], &result["cacheScope"]),
        (&json!("complete"), &json!("private"))
    );
}

#[tokio::test]
async fn a_call_needs_no_session() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let params = json!({ "name": "notes__record", "arguments": { "nonce": "a" } });
    let answer = Wire::to(&gateway, "/mcp").newer(1, "tools/call", params).await;
    let result = &answer.last()["result"];
    assert_eq!(result["content"][0]["text"], "a");
    assert_eq!(result["resultType"], "complete");
    assert_eq!(upstream.ledger.executions("a"), 1);
}

#[tokio::test]
async fn a_request_whose_headers_contradict_its_body_is_refused() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let wire = Wire::to(&gateway, "/mcp");
    let (plain, message) = wire.stating(1, "tools/list", json!({}));
    let status = async |wire: Wire, message: &serde_json::Value| {
        let answer = wire.post(message).await;
        (answer.status.as_u16(), answer.code())
    };
    assert_eq!(status(plain.clone(), &message).await, (200, None));
    assert_eq!(status(wire.clone(), &message).await, (400, Some(-32020)));
    let (_, other) = wire.stating(1, "prompts/list", json!({}));
    assert_eq!(status(plain.clone(), &other).await, (400, Some(-32020)));
    let future = wire.clone().with("mcp-protocol-version", "2099-01-01");
    assert_eq!(status(future, &message).await, (400, Some(-32022)));
    let (vendor, message) = wire.stating(1, "vendor/nothing", json!({}));
    assert_eq!(status(vendor, &message).await, (404, Some(-32601)));
    let (gone, message) = wire.stating(1, "ping", json!({}));
    assert_eq!(status(gone, &message).await, (404, Some(-32601)));
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let answer = plain.send(method.clone(), None, "*/*").await;
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
    }
}

#[tokio::test]
async fn a_subscription_gets_what_it_asked_for_until_it_ends() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let (wire, message) =
        Wire::to(&gateway, "/mcp/notes").stating(5, "subscriptions/listen", params);
    let both = "application/json, text/event-stream";
    let mut notifications = WireEvents::of(wire.send(Method::POST, Some(&message), both).await);
    let (_, first) = notifications.next().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"], json!({ "toolsListChanged": true }));
    upstream.kill().await;
    gateway.until_down("notes").await;
    upstream.start_again_with(&["extra"]).await;
    let (_, notification) = notifications.next().await.unwrap();
    assert_eq!(notification["method"], "notifications/tools/list_changed");
    assert_eq!(notification["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 5);
}

#[tokio::test]
async fn disconnecting_cancels_a_stateless_call_but_not_one_in_a_session() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let old = Wire::to(&gateway, "/mcp/notes").initialized("2025-11-25", json!({})).await;
    let call = |nonce: &str| json!({ "name": "record", "arguments": { "nonce": nonce } });
    let (new, newer) = Wire::to(&gateway, "/mcp/notes").stating(1, "tools/call", call("cancelled"));
    let older = request(2, "tools/call", call("goes on"));
    upstream.always("tools/call", Act::Wait { millis: 300 }).await;
    for (sent, (wire, message)) in [(1, (new, newer)), (2, (old, older))] {
        let mut hanging_up = JoinSet::new();
        hanging_up.spawn(async move { wire.post(&message).await });
        while upstream.asked("tools/call").await < sent {
            tokio::task::yield_now().await;
        }
        hanging_up.shutdown().await;
    }
    // It was sent after the cancelled call, and takes as long.
    upstream.until_executed("goes on").await;
    assert_eq!(upstream.ledger.executions("cancelled"), 0);
}
