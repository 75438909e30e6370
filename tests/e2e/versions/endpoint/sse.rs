//! 2024-11-05 editors, over HTTP+SSE.

use evermoor_tests::Scene;
use evermoor_tests::editor::wire::{Wire, WireEvents, request};
use evermoor_tests::fakes::upstream::script::Act;
use evermoor_tests::gateway::Gateway;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// Opens a stream and reads the address for posts from it.
async fn open(gateway: &Gateway, path: &str) -> (WireEvents, Wire) {
    let answer = Wire::to(gateway, path).send(Method::GET, None, "text/event-stream").await;
    assert_eq!(answer.status(), StatusCode::OK);
    let mut events = WireEvents::of(answer);
    let (_, address) = events.next_text().await.unwrap();
    (events, Wire::to(gateway, &address))
}

/// Posts a message and reads the answer from the stream.
async fn ask(events: &mut WireEvents, wire: &Wire, message: Value) -> Value {
    assert_eq!(wire.post(&message).await.status, StatusCode::ACCEPTED);
    events.next().await.unwrap().1
}

#[tokio::test]
async fn a_2024_11_05_editor_works_and_gets_notifications_on_its_stream() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let (mut events, wire) = open(&gateway, "/sse/notes").await;
    let params = json!({
        "protocolVersion": "2024-11-05",
        "capabilities": {},
        "clientInfo": { "name": "old", "version": "1" },
    });
    let introduced = ask(&mut events, &wire, request(1, "initialize", params)).await;
    assert_eq!(introduced["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(introduced["result"]["serverInfo"]["name"], "fake");
    let params = json!({ "name": "record", "arguments": { "nonce": "a" } });
    let answer = ask(&mut events, &wire, request(2, "tools/call", params)).await;
    assert_eq!(answer["result"]["content"][0]["text"], "a");
    upstream.kill().await;
    gateway.until_down("notes").await;
    upstream.start_again_with(&["extra"]).await;
    let notification = events.next().await.unwrap().1;
    assert_eq!(notification["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_session_ends_with_its_stream() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let (events, wire) = open(&gateway, "/sse").await;
    let ping = request(1, "ping", json!({}));
    assert_eq!(wire.post(&ping).await.status, StatusCode::ACCEPTED);
    let unmarked = wire.clone().plain(&ping.to_string()).await;
    assert_eq!(unmarked, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    drop(events);
    while wire.post(&ping).await.status != StatusCode::NOT_FOUND {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_broken_stream_cancels_no_call() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    upstream.next(1, "tools/call", Act::Wait { millis: 300 }).await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let (events, wire) = open(&gateway, "/sse/notes").await;
    let params = json!({ "name": "record", "arguments": { "nonce": "goes on" } });
    wire.post(&request(1, "tools/call", params)).await;
    while upstream.asked("tools/call").await < 1 {
        tokio::task::yield_now().await;
    }
    drop(events);
    upstream.until_executed("goes on").await;
}
