//! Starting, stopping and replacing the gateway.

use evermoor_tests::Scene;
use evermoor_tests::gateway::{next_gateway, runtime};
use evermoor_tests::scene::programs::Process;

use super::{evermoor, json, text};

#[tokio::test]
async fn a_gateway_is_started_in_the_background_and_stopped_again() {
    let scene = Scene::new();
    scene.configure("", &[]);
    let started = evermoor(&scene.home(), &["start"]).await;
    assert_eq!(started.status.code(), Some(0), "{}", text(&started.stderr));
    let here = runtime(&scene.home());
    assert_eq!(text(&started.stdout), format!("Evermoor is running at {}/mcp.\n", here.origin));
    let again = json(&evermoor(&scene.home(), &["start", "--json"]).await);
    assert_eq!(again["pid"], here.pid, "the one that runs is found");

    let stopped = evermoor(&scene.home(), &["stop"]).await;
    assert_eq!(text(&stopped.stdout), "Evermoor is stopped.\n");
    assert_eq!(evermoor(&scene.home(), &["status"]).await.status.code(), Some(3));
    assert_eq!(evermoor(&scene.home(), &["stop"]).await.status.code(), Some(3));
}

#[tokio::test]
async fn the_gateway_is_replaced_by_a_new_one_and_editors_stay() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let before = runtime(&scene.home());
    let restarted = evermoor(&scene.home(), &["restart", "--gateway"]).await;
    assert_eq!(restarted.status.code(), Some(0), "{}", text(&restarted.stderr));
    assert!(text(&restarted.stdout).starts_with("A new gateway has taken over"));
    let after = next_gateway(&scene.home(), before.pid).await;
    assert_eq!(before.origin, after.origin);
    let result = editor.call("record", &serde_json::json!({ "nonce": "after" })).await;
    assert_eq!(result["content"][0]["text"], "after");
    assert_eq!(evermoor(&scene.home(), &["stop"]).await.status.code(), Some(0));
}

#[tokio::test]
async fn every_upstream_can_be_reconnected() {
    let scene = Scene::new();
    let (one, other) = (scene.upstream("one").await, scene.upstream("other").await);
    let gateway = scene.gateway(&[&one, &other]).await;
    gateway.until_connected("one").await;
    gateway.until_connected("other").await;
    let data = json(&evermoor(&scene.home(), &["restart", "--all", "--json"]).await);
    assert_eq!(data["restarts"].as_array().unwrap().len(), 2);
    let said = text(&evermoor(&scene.home(), &["restart", "one"]).await.stdout);
    assert_eq!(said, "Reconnecting to `one`.\n");
}

#[tokio::test]
async fn a_watched_status_prints_every_change() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let mut watching = Process::evermoor(&scene.home(), |command| {
        command.args(["status", "--watch", "--json"]);
    });
    watching.line_with("\"healthy\"").await;
    upstream.kill().await;
    watching.line_with("\"degraded\"").await;
    watching.kill().await;
}
