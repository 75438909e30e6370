//! Changes in `config.toml` take effect while the gateway runs, and affect nothing else.

use evermoor_core::api::{Status, UpstreamState, UpstreamStatus};
use evermoor_core::failure::Code;
use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::network::proxy::Proxy;
use evermoor_tests::peers::free_port;
use serde_json::json;

fn since(upstream: &UpstreamStatus) -> u64 {
    match upstream.link {
        UpstreamState::Connected { since, .. } => since,
        UpstreamState::Off
        | UpstreamState::Connecting
        | UpstreamState::Down { .. }
        | UpstreamState::Paused { .. } => {
            panic!("it is connected: {upstream:?}")
        }
    }
}

fn names(status: &Status) -> Vec<&str> {
    status.upstreams.iter().map(|upstream| upstream.name.as_str()).collect()
}

async fn tools(editor: &mut Editor) -> Vec<String> {
    let listed = editor.ask("tools/list", &json!({})).await;
    let tools = listed["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_added_upstream_starts_and_the_others_keep_their_connections_and_sessions() {
    let scene = Scene::new();
    let (notes, files) = (scene.upstream("notes").await, scene.upstream("files").await);
    let gateway = scene.gateway(&[&notes]).await;
    let before = since(&gateway.until_connected("notes").await);
    let (mut alone, mut all) = (gateway.editor("/mcp/notes").await, gateway.editor("/mcp").await);
    scene.configure("", &[&notes, &files]);
    gateway.until_connected("files").await;
    assert_eq!(since(&gateway.until_connected("notes").await), before);
    alone.call("record", &json!({ "nonce": "same session" })).await;
    assert_eq!(notes.ledger.executions("same session"), 1);
    assert!(tools(&mut all).await.contains(&"files__record".to_owned()));
    all.call("files__record", &json!({ "nonce": "new" })).await;
    assert_eq!(files.ledger.executions("new"), 1);
}

#[tokio::test]
async fn a_removed_upstream_is_gone_with_its_tools_and_its_address() {
    let scene = Scene::new();
    let (notes, files) = (scene.upstream("notes").await, scene.upstream("files").await);
    let gateway = scene.gateway(&[&notes, &files]).await;
    let before = since(&gateway.until_connected("notes").await);
    gateway.until_connected("files").await;
    let mut editor = gateway.editor("/mcp").await;
    assert!(tools(&mut editor).await.contains(&"files__record".to_owned()));
    scene.configure("", &[&notes]);
    gateway.until_status(|status| names(status) == ["notes"]).await;
    assert!(tools(&mut editor).await.iter().all(|tool| tool.starts_with("notes__")));
    let answer = evermoor_tests::gateway::http()
        .post(format!("{}/mcp/files", gateway.origin))
        .bearer_auth(gateway.token())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 404);
    assert_eq!(since(&gateway.until_connected("notes").await), before);
}

#[tokio::test]
async fn a_changed_address_is_used_and_the_session_continues() {
    let scene = Scene::new();
    let (mut old, new) = (scene.upstream("notes").await, scene.upstream("other").await);
    let gateway = scene.gateway(&[&old]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    editor.call("record", &json!({ "nonce": "before" })).await;
    old.url.clone_from(&new.url);
    scene.configure("", &[&old]);
    gateway.until("notes", |upstream| upstream.target == new.url).await;
    editor.call("record", &json!({ "nonce": "after" })).await;
    assert_eq!((old.ledger.executions("before"), old.ledger.executions("after")), (1, 0));
    assert_eq!(new.ledger.executions("after"), 1);
}

#[tokio::test]
async fn a_call_under_way_ends_well_although_its_upstream_is_removed() {
    let scene = Scene::new();
    let (mut notes, files) = (scene.upstream("notes").await, scene.upstream("files").await);
    let gateway = scene.gateway(&[&notes, &files]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let removed = async {
        notes.until_executed("long").await;
        scene.configure("", &[&files]);
        gateway.until_status(|status| names(status) == ["files"]).await;
        notes.ledger.release("long");
    };
    let call = json!({ "nonce": "long" });
    let (result, ()) = tokio::join!(editor.call("wait", &call), removed);
    assert_eq!(result["content"][0]["text"], "long");
}

#[tokio::test]
async fn a_call_held_for_a_removed_upstream_is_answered_as_not_sent() {
    let scene = Scene::new();
    let (mut notes, files) = (scene.upstream("notes").await, scene.upstream("files").await);
    let gateway = scene.gateway(&[&notes, &files]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    notes.kill().await;
    gateway.until_down("notes").await;
    let call = json!({ "nonce": "held" });
    let removed = async { scene.configure("", &[&files]) };
    let (result, ()) = tokio::join!(editor.call("record", &call), removed);
    let outcome = &result["_meta"]["dev.evermoor/outcome"];
    assert_eq!(
        (&outcome["outcome"], &outcome["cause"]),
        (&json!("not_sent"), &json!("shutting_down")),
        "{result}"
    );
}

#[tokio::test]
async fn a_mistake_changes_nothing_and_is_reported_until_it_is_corrected() {
    let scene = Scene::new();
    let notes = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&notes]).await;
    let before = since(&gateway.until_connected("notes").await);
    let mut editor = gateway.editor("/mcp/notes").await;
    scene.configure("hold = \"soon\"", &[]);
    let status = gateway.until_status(|status| !status.warnings.is_empty()).await;
    let warning = &status.warnings[0];
    assert_eq!(warning.code, Code::Configuration);
    assert!(warning.what.ends_with("config.toml, line 3: `soon` is not a duration."), "{warning}");
    assert!(warning.remedy.starts_with("Write a number of seconds"), "{warning}");
    assert_eq!(since(&status.upstreams[0]), before);
    editor.call("record", &json!({ "nonce": "meanwhile" })).await;
    scene.configure("", &[&notes]);
    let status = gateway.until_status(|status| status.warnings.is_empty()).await;
    assert_eq!(since(&status.upstreams[0]), before);
}

#[tokio::test]
async fn deleting_the_file_changes_nothing() {
    let scene = Scene::new();
    let notes = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&notes]).await;
    let before = since(&gateway.until_connected("notes").await);
    std::fs::remove_file(scene.home().join("config.toml")).unwrap();
    let status = gateway.until_status(|status| !status.warnings.is_empty()).await;
    assert!(status.warnings[0].what.contains("config.toml is missing"), "{}", status.warnings[0]);
    assert_eq!(since(&status.upstreams[0]), before);
}

#[tokio::test]
async fn a_changed_hold_takes_effect_at_once() {
    let scene = Scene::new();
    let mut notes = scene.upstream("notes").await;
    let gateway = scene.gateway_with("require_token = false", &[&notes]).await;
    let before = since(&gateway.until_connected("notes").await);
    let mut editor = gateway.editor("/mcp/notes").await;
    // The other setting in the same file shows that the file has been read.
    scene.configure("hold = 0", &[&notes]);
    let status = gateway.until_status(|status| status.warnings.is_empty()).await;
    assert_eq!(since(&status.upstreams[0]), before);
    notes.kill().await;
    gateway.until_down("notes").await;
    let result = editor.call("record", &json!({ "nonce": "lost" })).await;
    let held = result["_meta"]["dev.evermoor/outcome"]["heldMs"].as_u64().unwrap();
    assert!(held < 25_000, "{result}");
}

#[tokio::test]
async fn a_changed_token_requirement_takes_effect_at_once() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let knock = async || {
        let url = format!("{}/mcp", gateway.origin);
        evermoor_tests::gateway::http().post(url).send().await.unwrap().status().as_u16()
    };
    assert_eq!(knock().await, 401);
    scene.configure("require_token = false", &[]);
    gateway.until_status(|status| status.warnings.iter().any(|w| w.code == Code::TokenOff)).await;
    assert_eq!(knock().await, 415, "let in, and asked for JSON");
    scene.configure("", &[]);
    gateway.until_status(|status| status.warnings.is_empty()).await;
    assert_eq!(knock().await, 401);
}

#[tokio::test]
async fn a_changed_listen_address_needs_a_restart_and_says_so() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let address = format!("127.0.0.1:{}", free_port());
    scene.configure(&format!("listen = \"{address}\""), &[]);
    let status = gateway.until_status(|status| !status.warnings.is_empty()).await;
    let warning = &status.warnings[0];
    assert!(warning.what.contains(&address), "{warning}");
    assert!(warning.remedy.contains("Restart"), "{warning}");
    assert_eq!(status.endpoint, format!("{}/mcp", gateway.origin));
    scene.configure("", &[]);
    gateway.until_status(|status| status.warnings.is_empty()).await;
}

#[tokio::test]
async fn a_held_call_follows_its_upstream_to_a_new_address() {
    let scene = Scene::new();
    let (mut old, new) = (scene.upstream("notes").await, scene.upstream("new").await);
    let gateway = scene.gateway(&[&old]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    old.kill().await;
    gateway.until_down("notes").await;
    let call = json!({ "nonce": "held" });
    let moved = async {
        let entry = |url: &str| format!("[upstreams.notes]\nurl = \"{url}\"\ntitle = \"Moved\"\n");
        scene.write("", &entry(&new.url));
        gateway.until_connected("notes").await
    };
    let (result, seen) = tokio::join!(editor.call("record", &call), moved);
    assert_eq!(result["content"][0]["text"], "held", "{result}");
    assert_eq!((seen.title.as_str(), new.ledger.executions("held")), ("Moved", 1));
}

#[tokio::test]
async fn a_setting_that_needs_no_new_connection_makes_none() {
    let scene = Scene::new();
    let notes = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&notes]).await;
    let before = since(&gateway.until_connected("notes").await);
    let mut editor = gateway.editor("/mcp/notes").await;
    let entry = format!(
        "[upstreams.notes]\nurl = \"{}\"\ntitle = \"Mine\"\ncall_timeout = 1\n\
         keepalive_interval = \"1h\"\ntools.record.retry = \"safe\"\n",
        notes.url
    );
    scene.write("", &entry);
    let seen = gateway.until("notes", |upstream| upstream.title == "Mine").await;
    assert_eq!(since(&seen), before);
    let answer = editor.attempt("hang", "short").await;
    assert_eq!(answer.why(), (-33011, "timeout"), "the new limit holds: {answer:?}");
    assert_eq!(notes.asked("initialize").await, 1);
}

#[tokio::test]
async fn a_changed_header_affects_only_its_upstream() {
    let scene = Scene::new();
    let (notes, files) = (scene.upstream("notes").await, scene.upstream("files").await);
    let proxy = Proxy::to(&notes.url).await;
    let entries = |team: &str| {
        format!(
            "[upstreams.notes]\nurl = \"{}\"\nheaders.X-Team = \"{team}\"\n\
             [upstreams.files]\nurl = \"{}\"\n",
            proxy.url, files.url
        )
    };
    let gateway = scene.gateway_of("", &entries("blue")).await;
    let before = since(&gateway.until_connected("files").await);
    gateway.until_connected("notes").await;
    assert_eq!(proxy.forwarded("x-team: green"), 0);
    scene.write("", &entries("green"));
    proxy.until_forwarded("x-team: green", 1).await;
    gateway.until_connected("notes").await;
    let mut editor = gateway.editor("/mcp/notes").await;
    editor.call("record", &json!({ "nonce": "green" })).await;
    assert_eq!(since(&gateway.until_connected("files").await), before);
}

#[tokio::test]
async fn another_program_starts_only_when_the_one_before_it_is_gone() {
    use evermoor_tests::fakes::program::{Program, runs};
    let scene = Scene::new();
    // It keeps running when its input is closed, so that stopping it takes a while.
    let first = Program::new("notes", scene.path("notes.ledger"), &["stays", "kin"]);
    let second = Program::new("notes", scene.path("notes.ledger"), &["chatty"]);
    let gateway = scene.gateway_of("", &first.entry()).await;
    gateway.until_connected("notes").await;
    let (life, kin) = (first.instance(1).await, first.kin(1).await);
    scene.write("", &second.entry());
    second.instance(2).await;
    assert_eq!((runs(life), runs(kin)), (false, false));
    let mut editor = gateway.editor("/mcp/notes").await;
    editor.call("record", &json!({ "nonce": "after" })).await;
    assert_eq!(second.starts(), 2);
}
