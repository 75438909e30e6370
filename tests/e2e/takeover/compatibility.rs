//! A gateway on the files of 0.1.0 (`tests/fixtures/0.1.0`): everything in them is still known.

use std::path::{Path, PathBuf};
use std::process::Output;

use evermoor_core::api::{Timeline, TimelineSpan, TimelineState, UpstreamState};
use evermoor_core::failure::Code;
use evermoor_core::history::incident::{Incident, Incidents, Resolution};
use evermoor_core::security::tokens::Tokens;
use evermoor_platform::clock::unix_millis;
use evermoor_platform::fs::private::write_private;
use evermoor_platform::paths::Paths;
use evermoor_tests::Scene;
use evermoor_tests::editor::wire::{Wire, request};
use evermoor_tests::fakes::program::Program;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::scene::machine::Machine;
use evermoor_tests::scene::programs::built;
use http::{Method, StatusCode};
use serde_json::json;

/// The editor that was added with `evermoor tokens add`.
const EDITOR: &str = "laptop";

/// A machine on which 0.1.0 ran.
struct Upgraded {
    scene: Scene,
    machine: Machine,
    /// The stdio upstream of the configuration.
    program: Program,
}

impl Upgraded {
    fn new() -> Self {
        let scene = Scene::new();
        let machine = Machine::new(&scene);
        machine.install("fake-stdio", &built("fake-stdio"));
        let program = Program::new("program", scene.path("program.ledger"), &["social"]);
        for folder in ["home", "person"] {
            copy(&fixture(folder), &scene.path(folder), &scene);
        }
        Self { scene, machine, program }
    }

    async fn gateway(&self) -> Gateway {
        Gateway::start(&self.scene.home()).await
    }

    fn token(&self) -> String {
        let content = std::fs::read(self.paths().token_file()).unwrap();
        Tokens::parse(&content).unwrap().of(EDITOR).unwrap().to_owned()
    }

    fn paths(&self) -> Paths {
        Paths::find(Some(self.scene.home())).unwrap()
    }

    /// The editor, in the session that it opened at 0.1.0.
    fn session(&self, gateway: &Gateway) -> Wire {
        let wire = Wire::to(gateway, "/mcp/program").with_token(&self.token());
        wire.with("mcp-session-id", &text(&fixture("session-id")))
    }

    fn person(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.machine.home.join(path)).unwrap()
    }
}

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/0.1.0").join(path)
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn original(path: &str) -> Vec<u8> {
    std::fs::read(fixture("original").join(path)).unwrap()
}

/// Copies a folder and fills in the placeholders of its text files.
fn copy(from: &Path, to: &Path, scene: &Scene) {
    // The times in the fixture become times of the last minutes.
    let time = (unix_millis() / 100_000 - 1).to_string();
    let place = scene.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to, scene);
            continue;
        }
        let content = match String::from_utf8(std::fs::read(&path).unwrap()) {
            Ok(text) => text.replace("{scene}", &place).replace("{time}", &time).into_bytes(),
            Err(binary) => binary.into_bytes(),
        };
        write_private(&to, &content).unwrap();
    }
}

fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_file_of_0_1_0_is_where_evermoor_looks_for_it() {
    let upgraded = Upgraded::new();
    let paths = upgraded.paths();
    for file in [
        paths.config.clone(),
        paths.runtime_file(),
        paths.token_file(),
        paths.control_token_file(),
        paths.session_key_file(),
        paths.sessions_file(),
        paths.catalog_folder(),
        paths.paused_file(),
        paths.timelines_file(),
        paths.welcome_file(),
        paths.history_file(),
    ] {
        assert!(file.exists(), "0.1.0 wrote no {}", file.display());
    }
}

#[tokio::test]
async fn tokens_and_session_ids_of_0_1_0_are_accepted() {
    let upgraded = Upgraded::new();
    let gateway = upgraded.gateway().await;
    assert_eq!(gateway.control_token, text(&fixture("home/data/control.token")));
    let new = Wire::to(&gateway, "/mcp").with_token(&upgraded.token());
    new.initialized("2025-11-25", json!({})).await;
    gateway.until_connected("program").await;
    let answer = upgraded.session(&gateway).post(&request(1, "tools/list", json!({}))).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.last()["result"]["tools"].as_array().unwrap().len(), 9, "{answer:?}");
    let other = upgraded.session(&gateway).with_token(&gateway.token());
    let refused = other.post(&request(1, "tools/list", json!({}))).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND, "the session belongs to {EDITOR}");
}

#[tokio::test]
async fn the_subscriptions_and_the_log_level_of_a_session_are_restored() {
    let upgraded = Upgraded::new();
    let gateway = upgraded.gateway().await;
    gateway.until_connected("program").await;
    let mut notifications = upgraded.session(&gateway).listen(None).await;
    upgraded.program.until_executed("resources/subscribe").await;
    upgraded.program.until_executed("logging/setLevel").await;
    gateway.editor("/mcp/program").await.call("touch", &json!({})).await;
    loop {
        let (_, notification) = notifications.next().await.unwrap();
        if notification["method"] == "notifications/resources/updated" {
            assert_eq!(notification["params"]["uri"], "note:1");
            break;
        }
    }
}

#[tokio::test]
async fn a_request_state_of_0_1_0_never_repeats_its_call() {
    let upgraded = Upgraded::new();
    let gateway = upgraded.gateway().await;
    gateway.until_connected("program").await;
    let wire = Wire::to(&gateway, "/mcp/program").with_token(&upgraded.token());
    let params = json!({
        "name": "ask",
        "capabilities": { "elicitation": { "form": {} } },
        "requestState": text(&fixture("request-state")),
        "inputResponses": { "answer": { "action": "accept", "content": { "name": "Ada" } } },
    });
    let answer = wire.newer(1, "tools/call", params).await;
    let result = &answer.last()["result"];
    assert_eq!(result["_meta"]["dev.evermoor/outcome"]["outcome"], "unknown", "{answer:?}");
}

#[tokio::test]
async fn the_catalog_of_0_1_0_is_served_while_the_upstream_is_down() {
    let upgraded = Upgraded::new();
    let gateway = upgraded.gateway().await;
    assert_eq!(gateway.until_down("notes").await.tools, 4);
    let tools = gateway.editor("/mcp/notes").await.ask("tools/list", &json!({})).await;
    assert_eq!(tools["tools"][0]["name"], "record", "{tools}");
}

#[tokio::test]
async fn an_upstream_that_was_paused_stays_paused() {
    let upgraded = Upgraded::new();
    let gateway = upgraded.gateway().await;
    let seen = gateway.until("paused", |one| one.link != UpstreamState::Connecting).await;
    assert!(matches!(seen.link, UpstreamState::Paused { .. }), "{seen:?}");
    assert_eq!(seen.tools, 4, "its catalog is known, too");
}

#[tokio::test]
async fn the_outages_of_0_1_0_are_listed_with_their_causes_and_the_open_one_continues() {
    let upgraded = Upgraded::new();
    let gateway = upgraded.gateway().await;
    gateway.until_down("notes").await;
    let found = gateway.control(Method::GET, "/api/incidents").await;
    let mut found: Vec<Incident> = serde_json::from_value::<Incidents>(found).unwrap().incidents;
    found.sort_by_key(|incident| incident.id);
    let [over, open, crash] = &found[..] else { panic!("three outages: {found:?}") };
    for incident in [over, open] {
        assert_eq!(incident.sign.code, Code::ConnectionRefused);
        assert_eq!(incident.sign.what, "Nothing listens at 127.0.0.1:1.");
    }
    assert_eq!(crash.why(), "PiecesOS crashed (SIGABRT).");
    let evidence = crash.cause.as_ref().unwrap().evidence.as_ref().unwrap();
    assert_eq!(evidence.source, "The system wrote a crash report: SIGABRT.");
    assert_eq!((crash.events.len(), crash.memory, crash.uptime), (6, Some(6_537_216), Some(52)));
    assert_eq!(over.end.unwrap().how, Resolution::Reconnected);
    assert!(over.end.unwrap().at > over.began);
    assert_eq!(open.end, None, "the upstream is still down");
    assert!(open.unwatched > 0, "{open:?}");
}

#[tokio::test]
async fn the_timelines_of_0_1_0_continue_after_a_gap() {
    use TimelineState::{Connected, Connecting, Down, Unwatched};
    let upgraded = Upgraded::new();
    let gateway = upgraded.gateway().await;
    gateway.until_down("notes").await;
    let found = gateway.control(Method::GET, "/api/upstreams/notes/timeline").await;
    let spans: Vec<TimelineSpan> = serde_json::from_value::<Timeline>(found).unwrap().spans;
    let states: Vec<TimelineState> = spans.iter().map(|span| span.state).collect();
    let known = [Unwatched, Connecting, Connected, Down, Connected, Down, Unwatched];
    assert!(states.starts_with(&known), "{spans:?}");
}

#[tokio::test]
async fn the_setup_of_0_1_0_is_undone_byte_for_byte() {
    let upgraded = Upgraded::new();
    let _gateway = upgraded.gateway().await;
    assert_ne!(upgraded.person(".cursor/mcp.json"), original(".cursor/mcp.json"));
    let undone = upgraded.machine.set_up(&["cursor", "--undo"]).await;
    assert_eq!(undone["id"], "cursor");
    assert_eq!(upgraded.person(".cursor/mcp.json"), original(".cursor/mcp.json"));
    // A journal that cannot be read counts as empty, and would be written without the other editor.
    let journal = text(&upgraded.paths().data.join("setup/journal.json"));
    let journal: serde_json::Value = serde_json::from_str(&journal).unwrap();
    let records = journal["records"].as_array().unwrap();
    assert_eq!(records.len(), 1, "{journal}");
    assert_eq!(records[0]["client"], "codex");
}

#[tokio::test]
async fn an_import_of_0_1_0_is_undone_byte_for_byte() {
    let upgraded = Upgraded::new();
    let gateway = upgraded.gateway().await;
    gateway.until_down("plain").await;
    assert_ne!(upgraded.person(".codex/config.toml"), original(".codex/config.toml"));
    succeeded(&upgraded.machine.evermoor(&["import", "--undo"]).await);
    assert_eq!(upgraded.person(".codex/config.toml"), original(".codex/config.toml"));
    let imported = "\n[upstreams.plain]\nurl = \"http://127.0.0.1:3/mcp\"\n";
    let config = text(&fixture("home/config.toml")).replace(imported, "");
    let place = upgraded.scene.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    assert_eq!(gateway.config(), config.replace("{scene}", &place));
    let tokens = std::fs::read(upgraded.paths().token_file()).unwrap();
    let tokens = Tokens::parse(&tokens).unwrap();
    assert!(tokens.of("codex").is_none() && tokens.of("cursor").is_some());
}
