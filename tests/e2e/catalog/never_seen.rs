//! Upstreams that were never connected: what an editor gets that starts before they do.

use std::time::Duration;

use evermoor_tests::fakes::program::Program;
use tokio::time::Instant;

use super::*;

/// An editor that reads lists again when they change, and one that is not known to.
const REREADS: &str = "claude-code";
const READS_ONCE: &str = "codex";

/// A gateway whose only upstream, a server, is not running yet.
async fn absent_server() -> (Scene, Upstream, Gateway) {
    let scene = Scene::new();
    let mut notes = scene.upstream("notes").await;
    notes.kill().await;
    let gateway = scene.gateway(&[&notes]).await;
    gateway.until_down("notes").await;
    (scene, notes, gateway)
}

async fn tools(wire: &Wire) -> (Vec<String>, Duration) {
    let began = Instant::now();
    (listed(wire, "tools/list").await, began.elapsed())
}

async fn instructions(wire: &Wire) -> String {
    let params = json!({
        "protocolVersion": LATEST,
        "capabilities": {},
        "clientInfo": { "name": "wire", "version": "1" },
    });
    let answer = wire.post(&request(1, "initialize", params)).await;
    answer.last()["result"]["instructions"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn the_list_of_a_server_that_never_ran_is_empty_at_once_and_its_tools_are_announced() {
    let (_scene, mut notes, gateway) = absent_server().await;
    let token = gateway.add_editor(REREADS).await;
    for path in ["/mcp/notes", "/mcp"] {
        let wire = Wire::to(&gateway, path).with_token(&token);
        let wire = wire.initialized(LATEST, json!({})).await;
        let (found, took) = tools(&wire).await;
        assert!(found.is_empty(), "{found:?}");
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
    let wire = Wire::to(&gateway, "/mcp/notes").with_token(&token);
    let wire = wire.initialized(LATEST, json!({})).await;
    let mut events = wire.listen(None).await;
    notes.start_again().await;
    assert_eq!(next_method(&mut events).await, "notifications/tools/list_changed");
    assert!(tools(&wire).await.0.contains(&"record".to_owned()));
}

#[tokio::test]
async fn every_list_of_a_server_that_never_ran_is_empty_and_no_error() {
    let (_scene, _notes, gateway) = absent_server().await;
    let token = gateway.add_editor(READS_ONCE).await;
    let wire = Wire::to(&gateway, "/mcp/notes").with_token(&token);
    let wire = wire.initialized(LATEST, json!({})).await;
    for (list, member) in [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        let began = Instant::now();
        let answer = wire.post(&request(1, list, json!({}))).await;
        assert_eq!(answer.last()["result"][member], json!([]), "{answer:?}");
        assert!(began.elapsed() < Duration::from_secs(2), "{list}: {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn the_instructions_say_that_a_server_is_away_and_why() {
    let (_scene, _notes, gateway) = absent_server().await;
    for path in ["/mcp/notes", "/mcp"] {
        let text = instructions(&Wire::to(&gateway, path)).await;
        assert!(text.starts_with("# notes\n\nThis server is not available yet."), "{text}");
        assert!(text.contains("refused"), "{text}");
    }
}

#[tokio::test]
async fn the_instructions_say_that_an_application_is_away_although_its_preset_names_its_tools() {
    let preset = "title = \"Notes of mine\"\n\
        [find]\nports = 4000\nowner = true\n\
        [[mcp]]\ntransport = \"http\"\npath = \"/mcp\"\n\
        [[tools]]\nname = \"remember\"\ndescription = \"Remembers.\"\n\
        [linux]\nprocesses = [\"notes\"]\n[macos]\nprocesses = [\"notes\"]\n\
        [windows]\nprocesses = [\"notes.exe\"]\n";
    let scene = Scene::new();
    std::fs::create_dir_all(scene.home().join("presets")).unwrap();
    std::fs::write(scene.home().join("presets/notes.toml"), preset).unwrap();
    let gateway = scene.gateway_of("", "[upstreams.mine]\npreset = \"notes\"\n").await;
    gateway.until_down("mine").await;
    for (path, tool) in [("/mcp/mine", "remember"), ("/mcp", "mine__remember")] {
        let wire = Wire::to(&gateway, path);
        let text = instructions(&wire).await;
        assert!(text.contains("# Notes of mine\n\nThis server is not available yet."), "{text}");
        let wire = wire.initialized(LATEST, json!({})).await;
        assert_eq!(tools(&wire).await.0, [tool]);
    }
}

#[tokio::test]
async fn an_editor_that_reads_the_list_once_waits_for_a_program_that_starts() {
    let scene = Scene::new();
    let program = Program::new("notes", scene.path("notes.ledger"), &["slow"]);
    let gateway = scene.gateway_of("", &program.entry()).await;
    let (once, again) = (gateway.add_editor(READS_ONCE).await, gateway.add_editor(REREADS).await);
    let (once, again) = (
        Wire::to(&gateway, "/mcp/notes").with_token(&once),
        Wire::to(&gateway, "/mcp/notes").with_token(&again),
    );
    let once = once.initialized(LATEST, json!({})).await;
    let again = again.initialized(LATEST, json!({})).await;
    let ((all, _), (nothing, took)) = tokio::join!(tools(&once), async {
        let found = tools(&again).await;
        program.ledger.record("go");
        found
    });
    assert!(all.contains(&"record".to_owned()), "{all:?}");
    assert!(nothing.is_empty() && took < Duration::from_secs(2), "{nothing:?} {took:?}");
}
