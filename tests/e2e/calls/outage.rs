//! What an editor sees of an upstream's outage: nothing.

use evermoor_tests::Scene;
use evermoor_tests::editor::wire::Wire;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_call_made_while_the_upstream_is_down_is_held_and_runs_once() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    upstream.kill().await;
    gateway.until_down("notes").await;
    let held = json!({ "nonce": "held" });
    let (result, ()) = tokio::join!(editor.call("record", &held), upstream.start_again());
    assert_eq!(result["content"][0]["text"], "held");
    assert_eq!(upstream.ledger.executions("held"), 1);
}

#[tokio::test]
async fn a_call_that_cannot_be_delivered_is_told_that_nothing_ran() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway_with("hold = 1", &[&upstream]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    upstream.kill().await;
    let result = editor.call("record", &json!({ "nonce": "lost" })).await;
    let outcome = &result["_meta"]["dev.evermoor/outcome"];
    assert_eq!(
        (&result["isError"], &outcome["outcome"]),
        (&json!(true), &json!("not_sent")),
        "{result}"
    );
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Not delivered: \"record\" was not sent to notes"), "{text}");
    assert_eq!(upstream.ledger.executions("lost"), 0);
}

#[tokio::test]
async fn a_call_cut_off_in_the_middle_is_told_that_nobody_knows_and_is_not_repeated() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let ledger = upstream.ledger.clone();
    let cut = async {
        upstream.until_executed("cut").await;
        upstream.kill().await;
        upstream.start_again().await;
    };
    let call = json!({ "nonce": "cut" });
    let (result, ()) = tokio::join!(editor.call("hang", &call), cut);
    assert_eq!(result["_meta"]["dev.evermoor/outcome"]["outcome"], "unknown", "{result}");
    editor.call("record", &json!({ "nonce": "after" })).await;
    assert_eq!((ledger.executions("cut"), ledger.executions("after")), (1, 1));
}

#[tokio::test]
async fn the_tools_stay_visible_while_the_upstream_is_down() {
    let scene = Scene::new();
    let (gateway, _upstream) = scene.gateway_in_outage("notes").await;
    for (path, name) in [("/mcp", "notes__record"), ("/mcp/notes", "record")] {
        let listed = gateway.editor(path).await.ask("tools/list", &json!({})).await;
        assert_eq!(listed["tools"][0]["name"], name);
    }
}

#[tokio::test]
async fn an_upstream_that_forgot_the_session_gets_a_new_one_and_the_call() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    for nonce in ["one", "two", "three"] {
        upstream.kill().await;
        upstream.start_again().await;
        editor.call("record", &json!({ "nonce": nonce })).await;
        assert_eq!(upstream.ledger.executions(nonce), 1);
    }
}

#[tokio::test]
async fn a_session_survives_the_gateway() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let listen = gateway.origin.trim_start_matches("http://").to_owned();
    gateway.process.kill().await;
    let _gateway = scene.gateway_with(&format!("listen = \"{listen}\""), &[&upstream]).await;
    editor.call("record", &json!({ "nonce": "same session" })).await;
    assert_eq!(upstream.ledger.executions("same session"), 1);
}

#[tokio::test]
async fn an_idle_gateway_stops_at_once() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let wire = Wire::to(&gateway, "/mcp/notes").initialized("2025-11-25", json!({})).await;
    let mut notifications = wire.listen(None).await;
    let began = tokio::time::Instant::now();
    gateway.ask_to_stop().await;
    assert!(notifications.next().await.is_none(), "a stream of notifications is no call");
    assert!(gateway.process.ended().await.success());
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}
