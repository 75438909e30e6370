//! Sessions, subscriptions and dashboards that continue at the new gateway.

use evermoor_tests::Scene;
use evermoor_tests::editor::shim::ShimProcess;
use evermoor_tests::editor::wire::{Wire, WireEvents, request};
use evermoor_tests::fakes::program::Program;
use evermoor_tests::gateway::{Gateway, http};
use serde_json::json;

const LATEST: &str = "2025-11-25";

#[tokio::test]
async fn a_session_continues_with_its_subscriptions() {
    let scene = Scene::new();
    let program = Program::new("notes", scene.path("notes.ledger"), &["social"]);
    let mut old = scene.gateway_of("", &program.entry()).await;
    old.until_connected("notes").await;
    let wire = Wire::to(&old, "/mcp/notes").initialized(LATEST, json!({})).await;
    let subscribe = request(1, "resources/subscribe", json!({ "uri": "note:1" }));
    assert!(wire.post(&subscribe).await.last()["result"].is_object());
    let mut notifications = wire.listen(None).await;
    let new = Gateway::take_over(&scene.home()).await;
    assert!(notifications.next().await.is_none(), "the stream ends, so that another is opened");
    assert!(old.process.ended().await.success());

    // The stream has no event to resume from, so everything may have changed.
    let mut notifications = wire.listen(None).await;
    let mut methods = Vec::new();
    for _ in 0..4 {
        methods.push(notifications.next().await.unwrap().1["method"].clone());
    }
    assert_eq!(methods[3], "notifications/resources/updated", "{methods:?}");
    program.until_executed_times("resources/subscribe", 2).await;
    let mut other = new.editor("/mcp/notes").await;
    other.call("touch", &json!({})).await;
    let (_, updated) = notifications.next().await.unwrap();
    assert_eq!(updated["params"]["uri"], "note:1");
}

#[tokio::test]
async fn a_subscription_confirmed_during_a_takeover_is_kept_by_the_new_gateway() {
    let scene = Scene::new();
    let program = Program::new("notes", scene.path("notes.ledger"), &["social"]);
    let mut old = scene.gateway_of("", &program.entry()).await;
    old.until_connected("notes").await;
    let wire = Wire::to(&old, "/mcp/notes").initialized(LATEST, json!({})).await;
    // The program is busy with another call, so the subscription waits in the old gateway.
    let mut busy = old.editor("/mcp/notes").await;
    let takeover = async {
        program.until_executed("busy").await;
        let subscribe = request(1, "resources/subscribe", json!({ "uri": "note:1" }));
        let takeover = async {
            // The answer to a later request proves that the subscription has been read.
            wire.post(&request(2, "ping", json!({}))).await;
            let new = Gateway::take_over(&scene.home()).await;
            program.ledger.release("busy");
            new
        };
        let (granted, new) = tokio::join!(wire.post(&subscribe), takeover);
        assert!(granted.last()["result"].is_object(), "{granted:?}");
        new
    };
    let call = json!({ "nonce": "busy" });
    let (_, new) = tokio::join!(busy.call("wait", &call), takeover);
    assert!(old.process.ended().await.success());
    let mut notifications = wire.listen(None).await;
    program.until_executed_times("resources/subscribe", 2).await;
    new.editor("/mcp/notes").await.call("touch", &json!({})).await;
    loop {
        let (_, notification) = notifications.next().await.unwrap();
        if notification["method"] == "notifications/resources/updated" {
            break;
        }
    }
}

#[tokio::test]
async fn a_2026_07_28_subscription_ends_and_can_be_opened_again() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut old = scene.gateway(&[&upstream]).await;
    old.until_connected("notes").await;
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let (wire, message) = Wire::to(&old, "/mcp/notes").stating(5, "subscriptions/listen", params);
    let open = async || {
        let both = "application/json, text/event-stream";
        let answer = wire.send(reqwest::Method::POST, Some(&message), both).await;
        let mut notifications = WireEvents::of(answer);
        assert!(notifications.next().await.is_some(), "it is acknowledged");
        notifications
    };
    let mut notifications = open().await;
    let new = Gateway::take_over(&scene.home()).await;
    until_it_ends(&mut notifications).await;
    assert!(old.process.ended().await.success());
    let mut notifications = open().await;
    upstream.kill().await;
    new.until_down("notes").await;
    upstream.start_again_with(&["extra"]).await;
    assert_eq!(notifications.next().await.unwrap().1["method"], "notifications/tools/list_changed");
    new.ask_to_stop().await;
    until_it_ends(&mut notifications).await;
}

/// Waits for the end of a 2026-07-28 subscription with the id 5: its result, then the end of the stream.
async fn until_it_ends(notifications: &mut WireEvents) {
    let (_, result) = notifications.next().await.expect("the request has a result");
    let meta = &result["result"]["_meta"];
    assert_eq!((&result["id"], &result["result"]["resultType"]), (&json!(5), &json!("complete")));
    assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], 5, "{result}");
    assert!(notifications.next().await.is_none(), "the result is the last message");
}

#[tokio::test]
async fn a_2026_07_28_subscription_over_the_shim_moves_to_the_new_gateway() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut old = scene.gateway(&[&upstream]).await;
    old.until_connected("notes").await;
    let mut shim = ShimProcess::start(&scene.home(), Some("notes"));
    let params = json!({
        "notifications": { "toolsListChanged": true },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    shim.send(&request(5, "subscriptions/listen", params).to_string()).await;
    assert_eq!(shim.next().await["method"], "notifications/subscriptions/acknowledged");
    let new = Gateway::take_over(&scene.home()).await;
    assert!(old.process.ended().await.success());
    assert_eq!(shim.next().await["method"], "notifications/subscriptions/acknowledged");
    upstream.kill().await;
    new.until_down("notes").await;
    upstream.start_again_with(&["extra"]).await;
    assert_eq!(shim.next().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_dashboard_continues_and_an_unused_link_still_works() {
    let scene = Scene::new();
    let mut old = scene.gateway(&[]).await;
    let link = old.control(http::Method::POST, "/api/links").await;
    let code = link["url"].as_str().unwrap().split_once("#code=").unwrap().1.to_owned();
    let new = Gateway::take_over(&scene.home()).await;
    assert!(old.process.ended().await.success());
    // The token that the old gateway issued.
    let status = old.status().await;
    assert_eq!(status.endpoint, new.status().await.endpoint);
    let login = http()
        .post(format!("{}/api/login", new.origin))
        .header("content-type", "application/json")
        .body(json!({ "code": code }).to_string());
    assert!(login.send().await.unwrap().status().is_success());
}
