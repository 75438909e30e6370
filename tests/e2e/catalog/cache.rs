//! The gateway keeps what it knows of its upstreams across restarts.

use std::path::PathBuf;

use evermoor_core::api::UpstreamState;
use evermoor_tests::Scene;
use evermoor_tests::fakes::sse_server::EventsServer;
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::gateway::{Gateway, written};
use serde_json::{Value, json};

fn file(scene: &Scene) -> PathBuf {
    scene.home().join("data/catalogs/notes.json")
}

/// A gateway was connected once; now both it and its upstream are gone.
async fn after_a_first_life(scene: &Scene) -> Upstream {
    let mut upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    written(&file(scene), b"").await;
    gateway.process.kill().await;
    upstream.kill().await;
    upstream
}

async fn tools(gateway: &Gateway, path: &str) -> Value {
    gateway.editor(path).await.ask("tools/list", &json!({})).await["tools"].clone()
}

#[tokio::test]
async fn an_editor_that_starts_while_everything_is_down_sees_its_tools() {
    let scene = Scene::new();
    let upstream = after_a_first_life(&scene).await;
    let gateway = scene.gateway(&[&upstream]).await;
    assert_eq!(tools(&gateway, "/mcp/notes").await[0]["name"], "record");
    assert_eq!(tools(&gateway, "/mcp").await[0]["name"], "notes__record");
    let seen = gateway.until_down("notes").await;
    assert_eq!(seen.tools, 4, "the status counts them, too");
}

#[tokio::test]
async fn no_editor_waits_for_an_upstream_with_a_cached_catalog() {
    let scene = Scene::new();
    let upstream = after_a_first_life(&scene).await;
    let _silence = upstream.replace_by_silence();
    let gateway = scene.gateway(&[&upstream]).await;
    assert_eq!(tools(&gateway, "/mcp/notes").await[0]["name"], "record");
    assert_eq!(tools(&gateway, "/mcp").await[0]["name"], "notes__record");
    let link = gateway.status().await.upstreams.remove(0).link;
    assert_eq!(
        link,
        UpstreamState::Connecting,
        "the answers came before anything was known to be wrong"
    );
}

#[tokio::test]
async fn the_handshake_of_an_upstream_that_is_down_comes_from_the_cache() {
    let scene = Scene::new();
    let upstream = after_a_first_life(&scene).await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "scenario", "version": "1" },
    });
    let introduced = editor.ask("initialize", &params).await;
    assert_eq!(introduced["serverInfo"], json!({ "name": "fake", "version": "1" }));
    assert_eq!(introduced["capabilities"], json!({ "tools": { "listChanged": true } }));
}

#[tokio::test]
async fn a_corrupt_catalog_file_is_ignored_and_rewritten() {
    let scene = Scene::new();
    let mut upstream = after_a_first_life(&scene).await;
    let whole = std::fs::read(file(&scene)).unwrap();
    let damaged = &whole[..whole.len() - 10];
    std::fs::write(file(&scene), damaged).unwrap();
    let mut gateway = scene.gateway(&[&upstream]).await;
    assert_eq!(gateway.until_down("notes").await.tools, 0);
    assert_eq!(tools(&gateway, "/mcp").await, json!([]));
    upstream.start_again().await;
    gateway.until_connected("notes").await;
    written(&file(&scene), damaged).await;
    assert_eq!(std::fs::read(file(&scene)).unwrap(), whole, "the same words, the same file");
    upstream.kill().await;
    gateway.process.kill().await;
    let gateway = scene.gateway(&[&upstream]).await;
    assert_eq!(tools(&gateway, "/mcp").await[0]["name"], "notes__record");
}

#[tokio::test]
async fn another_address_is_another_server_and_shows_none_of_the_old_tools() {
    let scene = Scene::new();
    let mut upstream = after_a_first_life(&scene).await;
    upstream.url = upstream.url.replace("/mcp", "/elsewhere");
    let gateway = scene.gateway(&[&upstream]).await;
    assert_eq!(gateway.until_down("notes").await.tools, 0);
}

#[tokio::test]
async fn an_unwritable_folder_loses_the_cache_but_no_call() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    std::fs::create_dir_all(scene.home().join("data")).unwrap();
    std::fs::write(scene.home().join("data/catalogs"), "a file, not a folder").unwrap();
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let mut editor = gateway.editor("/mcp/notes").await;
    editor.call("record", &json!({ "nonce": "a" })).await;
    assert_eq!(upstream.ledger.executions("a"), 1);
}

#[tokio::test]
async fn the_transport_of_a_server_is_detected_once() {
    let (scene, server) = (Scene::new(), EventsServer::start().await);
    let mut gateway = scene.gateway_to("", "notes", &server.url, "").await;
    gateway.until_connected("notes").await;
    assert!(server.asked("POST") > 0, "nothing was known of it");
    written(&file(&scene), b"").await;
    gateway.process.kill().await;
    let before = server.requests().len();
    let gateway = scene.gateway_to("", "notes", &server.url, "").await;
    gateway.until_connected("notes").await;
    let since: Vec<String> = server.requests().split_off(before);
    assert_eq!(since.first().map(String::as_str), Some("GET"), "{since:?}");
    assert!(!since.contains(&"POST".to_owned()), "{since:?}");
}

#[tokio::test]
async fn the_transport_of_a_server_is_detected_again_when_it_has_changed() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    upstream.kill().await;
    let place = upstream.url.trim_start_matches("http://").trim_end_matches("/mcp");
    let older = EventsServer::at(place, "/mcp").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    written(&file(&scene), b"").await;
    gateway.process.kill().await;
    let learnt = std::fs::read_to_string(file(&scene)).unwrap();
    assert!(learnt.contains(r#""dialect":"events""#), "{learnt}");
    older.stop().await;
    upstream.start_again().await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    assert!(upstream.asked("initialize").await > 0);
}
