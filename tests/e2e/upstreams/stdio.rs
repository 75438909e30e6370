//! Stdio upstreams: programs that the gateway starts, restarts and ends.

#[cfg(unix)]
use std::time::Duration;

use evermoor_core::api::UpstreamState;
use evermoor_platform::process::spawn::kill;
use evermoor_tests::Scene;
#[cfg(unix)]
use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::fakes::program::{Program, runs, until_gone};
#[cfg(unix)]
use evermoor_tests::fakes::upstream::script::Act;
use evermoor_tests::gateway::{Gateway, http};
#[cfg(unix)]
use evermoor_tests::scene::programs::built;
use evermoor_tests::scene::{entry, freezing};
use serde_json::json;
#[cfg(unix)]
use tokio::time::Instant;

/// A program named `notes` behind a gateway.
async fn notes(scene: &Scene, ways: &[&str]) -> (Program, Gateway) {
    let program = Program::new("notes", scene.path("notes.ledger"), ways);
    let gateway = scene.gateway_of("", &program.entry()).await;
    (program, gateway)
}

#[tokio::test]
async fn a_call_goes_through_a_program_over_http_and_over_the_shim() {
    let scene = Scene::new();
    let (program, gateway) = notes(&scene, &["chatty"]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let result = editor.call("record", &json!({ "nonce": "http" })).await;
    assert_eq!(result["content"][0]["text"], "http");
    let mut editor = gateway.editor_over_shim(Some("notes")).await;
    let result = editor.call("record", &json!({ "nonce": "shim" })).await;
    assert_eq!(result["content"][0]["text"], "shim");
    assert_eq!((program.ledger.executions("http"), program.ledger.executions("shim")), (1, 1));
    assert_eq!(program.starts(), 1);
}

#[tokio::test]
async fn progress_of_a_call_arrives_under_the_editors_own_token() {
    let scene = Scene::new();
    let (_program, gateway) = notes(&scene, &[]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    editor
        .ask("tools/call", &json!({ "name": "steps", "_meta": { "progressToken": "mine" } }))
        .await;
    let steps: Vec<String> = editor
        .notifications
        .iter()
        .map(|notification| notification.params.as_ref().unwrap().as_str().to_owned())
        .collect();
    let wanted: Vec<String> =
        (1..=3).map(|step| format!(r#"{{"progress":{step},"progressToken":"mine"}}"#)).collect();
    assert_eq!(steps, wanted);
}

#[tokio::test]
async fn a_killed_program_is_started_again_and_the_call_is_held() {
    let scene = Scene::new();
    let (program, gateway) = notes(&scene, &[]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    for (life, nonce) in [(1, "one"), (2, "two"), (3, "three")] {
        let process = program.instance(life).await;
        kill(process).unwrap();
        // Wait until it is gone: input that is written while it dies may have been read, which is
        // another scenario.
        until_gone(process).await;
        editor.call("record", &json!({ "nonce": nonce })).await;
        assert_eq!(program.ledger.executions(nonce), 1);
    }
}

#[tokio::test]
async fn a_call_whose_program_is_killed_is_unknown_and_not_repeated() {
    let scene = Scene::new();
    let (program, gateway) = notes(&scene, &[]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let cut = async {
        program.until_executed("cut").await;
        kill(program.instance(1).await).unwrap();
    };
    let arguments = json!({ "nonce": "cut" });
    let (result, ()) = tokio::join!(editor.call("hang", &arguments), cut);
    assert_eq!(result["_meta"]["dev.evermoor/outcome"]["outcome"], "unknown", "{result}");
    editor.call("record", &json!({ "nonce": "after" })).await;
    assert_eq!((program.ledger.executions("cut"), program.ledger.executions("after")), (1, 1));
}

#[tokio::test]
async fn nothing_is_left_when_the_gateway_is_asked_to_stop() {
    let scene = Scene::new();
    let (program, mut gateway) = notes(&scene, &["kin", "stays"]).await;
    gateway.until_connected("notes").await;
    let (life, kin) = (program.instance(1).await, program.kin(1).await);
    assert!(runs(life) && runs(kin));
    gateway.ask_to_stop().await;
    assert!(gateway.process.ended().await.success());
    assert_eq!((runs(life), runs(kin)), (false, false));
}

/// The worst that can happen to a gateway which is stopped: service managers kill what takes longer, and
/// then nobody would know what became of the call.
#[cfg(unix)]
#[tokio::test]
async fn a_gateway_ends_within_ten_seconds_whatever_hangs_and_ignores_signals() {
    let scene = Scene::new();
    let program = Program::new("notes", scene.path("notes.ledger"), &[]);
    // What a shell ignores, the program that replaces it ignores too.
    let script = "trap '' TERM; exec \"$0\" \"$@\"".to_owned();
    let fake = built("fake-stdio").display().to_string();
    let ledger = program.ledger.path().display().to_string();
    let args = ["-c".to_owned(), script, fake, ledger, "kin".to_owned(), "stays".to_owned()];
    let stubborn = entry::program("notes", "/bin/sh".as_ref(), &args);
    let server = scene.upstream("server").await;
    let entries = stubborn + &entry::at("server", &server.url);
    let mut gateway = scene.gateway_of("", &entries).await;
    let mut of_program = gateway.editor("/mcp/notes").await;
    let mut of_server = gateway.editor("/mcp/server").await;
    let (life, kin) = (program.instance(1).await, program.kin(1).await);
    server.always("tools/call", Act::Hang).await;
    let stopping = async {
        program.until_executed("hangs").await;
        server.ledger.until_executed("hangs too").await;
        let asked = Instant::now();
        gateway.ask_to_stop().await;
        assert!(gateway.process.ended().await.success());
        asked.elapsed()
    };
    let (first, second, took) = tokio::join!(
        of_program.attempt("hang", "hangs"),
        of_server.attempt("record", "hangs too"),
        stopping
    );
    for answer in [first, second] {
        assert!(matches!(answer.verdict, Verdict::Unknown { .. }), "{answer:?}");
    }
    assert!(took <= Duration::from_secs(10), "{took:?}");
    assert_eq!((runs(life), runs(kin)), (false, false));
}

#[tokio::test]
async fn a_program_ends_with_a_gateway_that_was_killed() {
    let scene = Scene::new();
    let (program, mut gateway) = notes(&scene, &["stays"]).await;
    gateway.until_connected("notes").await;
    let life = program.instance(1).await;
    gateway.process.kill().await;
    until_gone(life).await;
}

#[tokio::test]
async fn the_next_gateway_ends_the_processes_of_a_killed_one_and_nothing_else() {
    let scene = Scene::new();
    let (program, mut gateway) = notes(&scene, &["kin"]).await;
    let elsewhere = Scene::new();
    let (neighbour, _other) = notes(&elsewhere, &["kin"]).await;
    let (kin, others_kin) = (program.kin(1).await, neighbour.kin(1).await);
    gateway.until_connected("notes").await;
    gateway.process.kill().await;
    let _next = scene.gateway_of("", &program.entry()).await;
    until_gone(kin).await;
    assert!(runs(others_kin), "its gateway lives");
}

#[tokio::test]
async fn a_frozen_program_is_replaced_together_with_its_children() {
    let scene = Scene::new();
    let (program, mut gateway) = notes(&scene, &["kin"]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    editor.call("record", &json!({ "nonce": "before" })).await;
    let (life, kin) = (program.instance(1).await, program.kin(1).await);
    freezing::freeze(life);
    let restart = http().post(format!("{}/api/upstreams/notes/restart", gateway.origin));
    restart.bearer_auth(&gateway.control_token).send().await.unwrap();
    editor.call("record", &json!({ "nonce": "after" })).await;
    until_gone(life).await;
    until_gone(kin).await;
    assert_eq!((program.starts(), program.ledger.executions("after")), (2, 1));
    gateway.ask_to_stop().await;
    gateway.process.ended().await;
    assert!(!runs(program.kin(2).await));
}

#[tokio::test]
async fn a_program_that_requires_initialize_gets_it() {
    let scene = Scene::new();
    let (program, gateway) = notes(&scene, &["strict"]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    editor.call("record", &json!({ "nonce": "a" })).await;
    let process = program.instance(2).await;
    kill(process).unwrap();
    until_gone(process).await;
    editor.call("record", &json!({ "nonce": "b" })).await;
    // One start to find out the version, and none after that.
    assert_eq!((program.starts(), program.ledger.executions("b")), (3, 1));
}

#[tokio::test]
async fn a_program_without_a_handshake_serves_an_editor_with_one() {
    let scene = Scene::new();
    let (program, gateway) = notes(&scene, &["stateless"]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    editor.call("record", &json!({ "nonce": "a" })).await;
    assert_eq!(program.ledger.executions("a"), 1);
}

#[tokio::test]
async fn a_program_sees_only_the_allowed_part_of_the_gateways_environment() {
    let scene = Scene::new();
    let program = Program::new("notes", scene.path("notes.ledger"), &[]);
    scene.write("", &program.entry());
    let variables = [("CARGO_REGISTRY_TOKEN", "of a person")];
    let gateway = Gateway::start_among(&scene.home(), &variables).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let result = editor.call("variables", &json!({})).await;
    let names: Vec<&str> = result["content"][0]["text"].as_str().unwrap().split(' ').collect();
    assert!(names.contains(&"PATH") && names.contains(&"EVERMOOR_CHILD"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");
}

#[tokio::test]
async fn a_missing_program_is_named_in_the_status_and_in_answers() {
    let scene = Scene::new();
    let nothing = entry::program("notes", "evermoor-nothing".as_ref(), &[]);
    let gateway = scene.gateway_of("hold = 1", &nothing).await;
    let down = gateway.until_down("notes").await;
    let UpstreamState::Down { failure, .. } = down.link else { panic!("it is down") };
    assert!(failure.what.contains("`evermoor-nothing`"), "{failure}");
}

#[tokio::test]
async fn a_program_that_keeps_exiting_is_restarted_with_backoff() {
    let scene = Scene::new();
    let (shell, script) = match cfg!(windows) {
        true => ("cmd", ["/c", "echo Error: no key>&2&exit 3"]),
        false => ("sh", ["-c", "echo 'Error: no key' >&2; exit 3"]),
    };
    let failing = entry::program("notes", shell.as_ref(), &script.map(str::to_owned));
    let gateway = scene.gateway_of("", &failing).await;
    let looping = gateway
        .until("notes", |upstream| {
            matches!(&upstream.link, UpstreamState::Down { failure, .. } if failure.what.contains("keeps crashing"))
        })
        .await;
    let UpstreamState::Down { failure, retry_at, since, .. } = looping.link else {
        panic!("it is down")
    };
    assert!(failure.what.contains("exited with code 3: Error: no key"), "{failure}");
    assert!(retry_at > since + 30_000, "{since} {retry_at}");
}
