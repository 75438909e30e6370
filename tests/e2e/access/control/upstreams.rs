//! The page of one upstream: what it offers, a test call, and its history.

use evermoor_core::api::{CatalogListing, TrialCallResult};
use evermoor_core::api::{Timeline, TimelineSpan, TimelineState};
use evermoor_tests::Scene;
use evermoor_tests::gateway::Gateway;
use http::{Method, StatusCode};
use serde_json::json;

async fn catalog(gateway: &Gateway) -> CatalogListing {
    let found = gateway.control(Method::GET, "/api/upstreams/notes/catalog").await;
    serde_json::from_value(found).unwrap()
}

#[tokio::test]
async fn a_tool_is_hidden_from_every_editor_by_a_switch_and_shown_again() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let before = gateway.config();
    let tools = catalog(&gateway).await.tools;
    assert_eq!(tools[0].input_schema, json!({ "type": "object" }));
    assert!(tools.iter().all(|tool| tool.shown && tool.fixed.is_none()));
    let mut editor = gateway.editor("/mcp/notes").await;
    let path = "/api/upstreams/notes/tools/hang";
    let (status, answer) = gateway.command(Method::POST, path, &json!({ "shown": false })).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert!(gateway.config().contains("tools.deny = [\"hang\"]"));
    gateway.until("notes", |upstream| upstream.hidden == 1).await;
    let hidden = catalog(&gateway).await.tools.into_iter().find(|tool| tool.name == "hang");
    assert!(!hidden.unwrap().shown);
    let listed = editor.ask("tools/list", &json!({})).await;
    assert!(!listed.to_string().contains("\"hang\""), "{listed}");
    gateway.command(Method::POST, path, &json!({ "shown": true })).await;
    assert_eq!(gateway.config(), before);
    gateway.until("notes", |upstream| upstream.hidden == 0).await;
}

#[tokio::test]
async fn what_a_pattern_hides_says_so_and_a_switch_is_refused() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway_to("", "notes", &upstream.url, "tools.deny = [\"rec*\"]\n").await;
    gateway.until_connected("notes").await;
    let record = catalog(&gateway).await.tools.into_iter().find(|tool| tool.name == "record");
    assert!(record.unwrap().fixed.unwrap().contains("`rec*`"));
    let path = "/api/upstreams/notes/tools/record";
    let (status, refusal) = gateway.command(Method::POST, path, &json!({ "shown": true })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refusal["error"]["what"].as_str().unwrap().contains("`rec*`"), "{refusal}");
}

#[tokio::test]
async fn a_test_call_takes_the_same_path_as_an_editors_call() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let path = "/api/upstreams/notes/call";
    let tried = json!({ "tool": "record", "arguments": { "nonce": "tried" } });
    let (status, answer) = gateway.command(Method::POST, path, &tried).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let trial: TrialCallResult = serde_json::from_value(answer).unwrap();
    assert_eq!(trial.result.unwrap()["content"][0]["text"], "tried");
    assert_eq!(upstream.ledger.executions("tried"), 1);
    let (_, answer) = gateway.command(Method::POST, path, &json!({ "tool": "unheard of" })).await;
    assert_eq!(
        (&answer["error"]["message"], &answer["result"]),
        (&json!("no such tool"), &json!(null))
    );
    let calls = gateway.control(Method::GET, "/api/activity?editor=dashboard").await;
    assert_eq!(calls["calls"].as_array().unwrap().len(), 2, "{calls}");
    let nobody = gateway.command(Method::POST, "/api/upstreams/nobody/call", &tried).await;
    assert_eq!(nobody.0, StatusCode::NOT_FOUND);
}

async fn spans(gateway: &Gateway) -> Vec<TimelineSpan> {
    let found = gateway.control(Method::GET, "/api/upstreams/notes/timeline").await;
    serde_json::from_value::<Timeline>(found).unwrap().spans
}

fn states(spans: &[TimelineSpan]) -> Vec<TimelineState> {
    spans.iter().map(|span| span.state).collect()
}

#[tokio::test]
async fn the_timeline_has_every_state_and_the_gaps_without_a_gateway() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    upstream.kill().await;
    gateway.until_down("notes").await;
    upstream.start_again().await;
    gateway.until_connected("notes").await;
    use TimelineState::{Connected, Down, Unwatched};
    let seen = spans(&gateway).await;
    assert!(states(&seen).ends_with(&[Connected, Down, Connected]), "{seen:?}");
    assert_eq!((seen[0].state, seen.last().unwrap().to), (Unwatched, None));
    gateway.ask_to_stop().await;
    gateway.process.ended().await;
    let again = Gateway::start(&scene.home()).await;
    again.until_connected("notes").await;
    let seen = spans(&again).await;
    let past = states(&seen);
    let past = past.split(|state| *state == TimelineState::Connecting).collect::<Vec<_>>().concat();
    assert!(past.ends_with(&[Connected, Down, Connected, Unwatched, Connected]), "{seen:?}");
}

#[tokio::test]
async fn outages_are_exported_as_a_report_to_paste() {
    let scene = Scene::new();
    let (gateway, _upstream) = scene.gateway_in_outage("notes").await;
    let request = evermoor_tests::gateway::http()
        .get(format!("{}/api/incidents?format=markdown&upstream=notes", gateway.origin))
        .bearer_auth(&gateway.control_token);
    let answer = request.send().await.unwrap();
    assert!(answer.headers()["content-type"].to_str().unwrap().starts_with("text/markdown"));
    let text = String::from_utf8(answer.bytes().await.unwrap().to_vec()).unwrap();
    assert!(text.starts_with("# Outages of notes"), "{text}");
}
