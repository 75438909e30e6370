//! Editors with sessions: notification streams, broken streams, cancellation, batches.

use evermoor_tests::Scene;
use evermoor_tests::conformance::{ConformanceServer, ServerVersions};
use evermoor_tests::editor::wire::{Wire, request};
use evermoor_tests::fakes::upstream::script::Act;
use futures_util::future::join_all;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;

const LATEST: &str = "2025-11-25";

fn call(id: u64, tool: &str, nonce: &str) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": { "nonce": nonce } }))
}

#[tokio::test]
async fn an_upstream_that_comes_back_with_other_tools_is_announced() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let all = Wire::to(&gateway, "/mcp").initialized(LATEST, json!({})).await;
    let mut notifications = all.listen(None).await;
    upstream.kill().await;
    gateway.until_down("notes").await;
    upstream.start_again_with(&["extra"]).await;
    let (id, notification) = notifications.next().await.unwrap();
    assert_eq!(notification["method"], "notifications/tools/list_changed");
    assert!(id.is_some(), "an event by which the stream can be taken up");
    let listed = all.post(&request(1, "tools/list", json!({}))).await;
    let names = listed.last()["result"]["tools"].to_string();
    assert!(names.contains("notes__extra"), "{names}");
}

#[tokio::test]
async fn an_upstream_that_comes_back_unchanged_is_not_announced() {
    let scene = Scene::new();
    let (mut notes, mut files) = (scene.upstream("notes").await, scene.upstream("files").await);
    let gateway = scene.gateway(&[&notes, &files]).await;
    gateway.until_connected("notes").await;
    gateway.until_connected("files").await;
    let all = Wire::to(&gateway, "/mcp").initialized(LATEST, json!({})).await;
    let mut notifications = all.listen(None).await;
    notes.kill().await;
    gateway.until_down("notes").await;
    notes.start_again().await;
    gateway.until_connected("notes").await;
    files.kill().await;
    gateway.until_down("files").await;
    files.start_again_with(&["extra"]).await;
    // The first notification is about `files`: the list of `notes` is unchanged.
    notifications.next().await.unwrap();
    let listed = all.post(&request(1, "tools/list", json!({}))).await;
    assert!(listed.last()["result"]["tools"].to_string().contains("files__extra"));
}

#[tokio::test]
async fn a_notification_stream_resumes_at_the_next_gateway() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let wire = Wire::to(&gateway, "/mcp/notes").initialized(LATEST, json!({})).await;
    let _news = wire.listen(None).await;
    gateway.process.kill().await;
    let gateway = evermoor_tests::gateway::Gateway::start(&scene.home()).await;
    gateway.until_connected("notes").await;
    // The new gateway may have another address; the session is the same.
    let wire = wire.at(&gateway, "/mcp/notes");
    let mut notifications = wire.listen(Some("n.00000000.7")).await;
    let (_, notification) = notifications.next().await.unwrap();
    assert_eq!(
        notification["method"], "notifications/tools/list_changed",
        "look at everything again"
    );
    let answer = wire.post(&call(1, "record", "after")).await;
    assert_eq!(answer.last()["result"]["content"][0]["text"], "after");
}

#[tokio::test]
async fn a_broken_call_stream_resumes_and_its_answer_comes_once() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    upstream.next(1, "tools/call", Act::Wait { millis: 11_000 }).await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let wire = Wire::to(&gateway, "/mcp/notes").initialized(LATEST, json!({})).await;
    let both = "application/json, text/event-stream";
    let answer = wire.send(Method::POST, Some(&call(7, "record", "slow")), both).await;
    let mut stream = evermoor_tests::editor::wire::WireEvents::of(answer);
    let (id, nothing) = stream.next_text().await.unwrap();
    assert_eq!(nothing, "", "the first event gives an id and says nothing");
    drop(stream);
    let mut again = wire.listen(id.as_deref()).await;
    let (_, answer) = again.next().await.unwrap();
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(7), &json!("slow"))
    );
    assert!(again.next().await.is_none());
    assert_eq!(upstream.ledger.executions("slow"), 1);
}

#[tokio::test]
async fn a_call_lost_with_the_gateway_still_gets_one_honest_answer() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let wire = Wire::to(&gateway, "/mcp").initialized(LATEST, json!({})).await;
    // An event id from an earlier gateway process: call 7, of the tool `record`.
    let id = "c.00000000.3.1.WzcsInJlY29yZCIsdHJ1ZV0";
    let (_, answer) = wire.listen(Some(id)).await.next().await.unwrap();
    assert_eq!(answer["id"], 7);
    assert_eq!(answer["result"]["isError"], true);
    let outcome = &answer["result"]["_meta"]["dev.evermoor/outcome"];
    assert_eq!(outcome["outcome"], "unknown", "{answer}");
}

#[tokio::test]
async fn a_second_notification_stream_is_refused_and_the_first_continues() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let wire = Wire::to(&gateway, "/mcp/notes").initialized(LATEST, json!({})).await;
    let mut first = wire.listen(None).await;
    let second = wire.send(Method::GET, None, "text/event-stream").await;
    assert_eq!(second.status(), StatusCode::CONFLICT);
    upstream.kill().await;
    gateway.until_down("notes").await;
    upstream.start_again_with(&["extra"]).await;
    assert!(first.next().await.is_some());
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_waits_is_never_sent() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let wire = Wire::to(&gateway, "/mcp/notes").initialized(LATEST, json!({})).await;
    upstream.kill().await;
    gateway.until_down("notes").await;
    let (held, message) = (wire.clone(), call(9, "record", "unwanted"));
    let mut waiting = JoinSet::new();
    waiting.spawn(async move { held.post(&message).await });
    let gone = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } });
    // The cancellation may overtake the call, so it is repeated until the call has ended.
    let answer = loop {
        assert_eq!(wire.post(&gone).await.status, StatusCode::ACCEPTED);
        if let Some(answer) = waiting.try_join_next() {
            break answer.unwrap();
        }
    };
    assert!(answer.messages.is_empty(), "nobody is told anything");
    upstream.start_again().await;
    wire.post(&call(10, "record", "wanted")).await;
    assert_eq!(upstream.ledger.executions("unwanted"), 0);
    assert_eq!(upstream.ledger.executions("wanted"), 1);
}

#[tokio::test]
async fn fifty_clients_with_the_same_ids_each_get_their_own_answers() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let client = |number: u64| {
        let wire = Wire::to(&gateway, "/mcp/notes");
        async move {
            let wire = wire.initialized(LATEST, json!({})).await;
            let calls = (0..10_u64).map(|id| {
                let (wire, nonce) = (wire.clone(), format!("{number}-{id}"));
                async move {
                    let answer = wire.post(&call(id, "record", &nonce)).await;
                    let answer = answer.last();
                    assert_eq!(answer["id"], id);
                    assert_eq!(answer["result"]["content"][0]["text"], nonce);
                }
            });
            join_all(calls).await;
        }
    };
    join_all((0..50).map(client)).await;
}

#[tokio::test]
async fn batches_are_accepted_only_in_the_version_that_allows_them() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let batch = json!([
        call(1, "record", "one"),
        { "jsonrpc": "2.0", "method": "notifications/nothing" },
        call(2, "record", "two"),
        request(3, "initialize", json!({})),
    ]);
    let old = Wire::to(&gateway, "/mcp/notes").initialized("2025-03-26", json!({})).await;
    let answer = old.post(&batch).await;
    let answers = answer.last().as_array().unwrap();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[1]["result"]["content"][0]["text"], "two");
    assert_eq!(answers[2]["error"]["code"], -32600);
    let only_told = json!([{ "jsonrpc": "2.0", "method": "notifications/nothing" }]);
    assert_eq!(old.post(&only_told).await.status, StatusCode::ACCEPTED);
    let new = Wire::to(&gateway, "/mcp/notes").initialized("2025-06-18", json!({})).await;
    let refused = new.post(&batch).await;
    assert_eq!((refused.status, refused.code()), (StatusCode::BAD_REQUEST, Some(-32600)));
}

#[tokio::test]
async fn a_call_stream_carries_no_log_messages_that_its_editor_did_not_ask_for() {
    let (scene, fixture) = (Scene::new(), ConformanceServer::start(ServerVersions::SESSIONS).await);
    let gateway = scene.gateway_to("", "fixture", &fixture.url, "").await;
    gateway.until_connected("fixture").await;
    let logs = async |level: &str| {
        let wire = Wire::to(&gateway, "/mcp/fixture").initialized(LATEST, json!({})).await;
        wire.post(&request(1, "logging/setLevel", json!({ "level": level }))).await;
        let answer = wire.post(&call(2, "test_tool_with_logging", "")).await;
        assert_eq!(answer.last()["result"]["content"][0]["text"], "Logged.");
        answer
            .messages
            .iter()
            .filter(|(_, notification)| notification["method"] == "notifications/message")
            .count()
    };
    // The upstream serves both, so it gets the more detailed of the two levels.
    assert_eq!(logs("debug").await, 3);
    assert_eq!(logs("error").await, 0);
}

#[tokio::test]
async fn ending_a_session_does_not_affect_others() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let (one, other) = (
        Wire::to(&gateway, "/mcp").initialized(LATEST, json!({})).await,
        Wire::to(&gateway, "/mcp").initialized(LATEST, json!({})).await,
    );
    let ended = one.send(Method::DELETE, None, "*/*").await;
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    assert_eq!(one.post(&request(1, "ping", json!({}))).await.status, StatusCode::NOT_FOUND);
    assert_eq!(other.post(&request(1, "ping", json!({}))).await.status, StatusCode::OK);
}
