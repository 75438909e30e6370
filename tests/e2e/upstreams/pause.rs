//! Pausing: a user tells the gateway to leave an upstream alone.

use std::path::Path;
use std::process::Output;

use evermoor_core::api::{OverallState, UpstreamState};
use evermoor_tests::Scene;
use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::gateway::{Gateway, http, written};
use evermoor_tests::scene::programs;
use http::{Method, StatusCode};
use serde_json::json;

async fn evermoor(home: &Path, arguments: &[&str]) -> Output {
    programs::evermoor(home).args(arguments).output().await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn until_paused(gateway: &Gateway, name: &str) {
    gateway.until(name, |upstream| matches!(upstream.link, UpstreamState::Paused { .. })).await;
}

fn paused() -> Verdict {
    Verdict::NotSent { code: -33001, cause: "paused".into() }
}

#[tokio::test]
async fn a_call_to_a_paused_upstream_is_refused_at_once_and_its_tools_stay() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let said = evermoor(&scene.home(), &["pause", "notes"]).await;
    assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
    until_paused(&gateway, "notes").await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let answer = editor.attempt("record", "a").await;
    assert_eq!(answer.verdict, paused());
    assert!(answer.text.contains("the user paused it"), "{}", answer.text);
    assert!(answer.text.contains("`evermoor resume notes`"), "{}", answer.text);
    assert_eq!(answer.details["heldMs"], 0);
    for path in ["/mcp/notes", "/mcp"] {
        let tools = gateway.editor(path).await.ask("tools/list", &json!({})).await;
        assert_eq!(tools["tools"].as_array().unwrap().len(), 4);
    }
    let status = gateway.status().await;
    assert_eq!(
        (status.overall, status.sentence.as_str()),
        (OverallState::Paused, "notes is paused")
    );
    evermoor(&scene.home(), &["resume", "notes"]).await;
    gateway.until_connected("notes").await;
    assert_eq!(editor.attempt("record", "b").await.verdict, Verdict::Done);
    assert_eq!((upstream.ledger.executions("a"), upstream.ledger.executions("b")), (0, 1));
}

#[tokio::test]
async fn a_paused_upstream_gets_no_requests_and_has_no_outages() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    gateway.control(Method::POST, "/api/upstreams/notes/pause").await;
    until_paused(&gateway, "notes").await;
    upstream.kill().await;
    upstream.start_again().await;
    let refused = gateway.editor("/mcp/notes").await.attempt("record", "a").await;
    assert_eq!(refused.verdict, paused());
    assert_eq!(upstream.asked("initialize").await, 0);
    let outages = gateway.control(Method::GET, "/api/incidents").await;
    assert_eq!(outages, json!({ "incidents": [] }));
    let restart = http()
        .post(format!("{}/api/upstreams/notes/restart", gateway.origin))
        .bearer_auth(&gateway.control_token);
    assert_eq!(restart.send().await.unwrap().status(), StatusCode::CONFLICT);
    gateway.control(Method::POST, "/api/upstreams/notes/resume").await;
    gateway.until_connected("notes").await;
}

#[tokio::test]
async fn a_pause_outlives_the_gateway() {
    let scene = Scene::new();
    let (notes, other) = (scene.upstream("notes").await, scene.upstream("other").await);
    let mut gateway = scene.gateway(&[&notes, &other]).await;
    gateway.until_connected("notes").await;
    written(&scene.home().join("data/catalogs/notes.json"), b"").await;
    gateway.control(Method::POST, "/api/upstreams/notes/pause").await;
    gateway.process.kill().await;
    let asked = notes.asked("initialize").await;
    let gateway = scene.gateway(&[&notes, &other]).await;
    gateway.until_connected("other").await;
    until_paused(&gateway, "notes").await;
    let answer = gateway.editor("/mcp/notes").await.attempt("record", "a").await;
    assert_eq!(answer.verdict, paused());
    let tools = gateway.editor("/mcp").await.ask("tools/list", &json!({})).await;
    assert_eq!(tools["tools"].as_array().unwrap().len(), 8);
    assert_eq!(notes.asked("initialize").await, asked);
    let status = gateway.status().await;
    assert_eq!(status.overall, OverallState::Healthy);
    assert_eq!(status.sentence, "notes is paused; everything else is connected");
}

#[tokio::test]
async fn all_upstreams_can_be_paused_and_one_resumed() {
    let scene = Scene::new();
    let (notes, other) = (scene.upstream("notes").await, scene.upstream("other").await);
    let gateway = scene.gateway(&[&notes, &other]).await;
    gateway.until_connected("notes").await;
    gateway.until_connected("other").await;
    let said = evermoor(&scene.home(), &["pause"]).await;
    assert_eq!(text(&said.stdout), "Paused all servers.\n");
    let status = gateway.until_status(|status| status.overall == OverallState::Paused).await;
    assert_eq!(status.sentence, "All 2 servers are paused");
    evermoor(&scene.home(), &["resume", "notes"]).await;
    gateway.until_connected("notes").await;
    until_paused(&gateway, "other").await;
    evermoor(&scene.home(), &["resume"]).await;
    gateway.until_connected("other").await;
    let unknown = evermoor(&scene.home(), &["pause", "nobody"]).await;
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("There is no server `nobody`."));
}

#[tokio::test]
async fn pausing_refuses_held_calls_and_lets_running_ones_finish() {
    let scene = Scene::new();
    let (mut notes, mut other) = (scene.upstream("notes").await, scene.upstream("other").await);
    let gateway = scene.gateway(&[&notes, &other]).await;
    gateway.until_connected("notes").await;
    gateway.until_connected("other").await;
    notes.kill().await;
    gateway.until_down("notes").await;
    let (mut one, mut two) =
        (gateway.editor("/mcp/notes").await, gateway.editor("/mcp/other").await);
    let ledger = other.ledger.clone();
    let pausing = async {
        other.until_executed("under way").await;
        gateway.control(Method::POST, "/api/pause").await;
        until_paused(&gateway, "other").await;
        ledger.release("under way");
    };
    let (waited, ended, ()) =
        tokio::join!(one.attempt("record", "waits"), two.attempt("wait", "under way"), pausing);
    assert_eq!(waited.verdict, paused());
    assert_eq!(ended.verdict, Verdict::Done);
}
