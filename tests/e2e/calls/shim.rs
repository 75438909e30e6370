//! `evermoor connect`: an editor over stdio.

use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::editor::shim::ShimProcess;
use evermoor_tests::fakes::upstream::script::{Act, ScriptedReply};
use evermoor_tests::gateway::Gateway;
use serde_json::{Value, json};
use tokio::time::Instant;

fn call(id: u64, tool: &str, nonce: &str) -> String {
    let params = json!({ "name": tool, "arguments": { "nonce": nonce } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

#[tokio::test]
async fn a_call_goes_through_over_the_shim() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor_over_shim(Some("notes")).await;
    let result = editor.call("record", &json!({ "nonce": "s" })).await;
    assert_eq!(result["content"][0]["text"], "s");
    assert!(editor.leave().await.success(), "the shim ends with its input");
    assert_eq!(upstream.ledger.executions("s"), 1);
}

#[tokio::test]
async fn the_shim_starts_a_gateway_when_there_is_none_and_leaves_it_running() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    scene.configure("", &[&upstream]);
    let mut editor = Editor::over_shim(&scene.home(), None).await;
    editor.call("notes__record", &json!({ "nonce": "first" })).await;
    assert!(editor.leave().await.success());
    let mut another = Editor::over_shim(&scene.home(), None).await;
    another.call("notes__record", &json!({ "nonce": "second" })).await;
    assert_eq!((upstream.ledger.executions("first"), upstream.ledger.executions("second")), (1, 1));
}

#[tokio::test]
async fn an_editor_over_the_shim_does_not_notice_that_the_gateway_was_killed() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor_over_shim(Some("notes")).await;
    gateway.process.kill().await;
    editor.call("record", &json!({ "nonce": "after" })).await;
    assert_eq!(upstream.ledger.executions("after"), 1);
}

// Windows does not tell which processes are gateways of this home.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_editors_that_start_at_once_share_one_gateway() {
    use evermoor_tests::gateway::runtime;
    use evermoor_tests::scene::gateways;
    use evermoor_tests::scene::wait::until;
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    scene.configure("", &[&upstream]);
    let mut starting = tokio::task::JoinSet::new();
    for number in 0..10 {
        let home = scene.home();
        starting.spawn(async move {
            let mut editor = Editor::over_shim(&home, Some("notes")).await;
            editor.call("record", &json!({ "nonce": number.to_string() })).await;
            editor
        });
    }
    let editors = starting.join_all().await;
    assert!((0..10).all(|number| upstream.ledger.executions(&number.to_string()) == 1));
    // Gateways that find the address in use exit by themselves.
    until("one gateway is left", || gateways(&scene.home()).len() == 1).await;
    assert_eq!(gateways(&scene.home()), [runtime(&scene.home()).pid]);
    drop(editors);
}

#[tokio::test]
async fn a_call_lost_with_the_gateway_is_unknown_and_a_read_is_retried() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    upstream.next(1, "resources/read", Act::Hang).await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let mut shim = ShimProcess::start(&scene.home(), Some("notes")).initialized().await;
    shim.send(&call(1, "hang", "cut")).await;
    upstream.until_executed("cut").await;
    let read = json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": { "uri": "note:1" } });
    shim.send(&read.to_string()).await;
    upstream.until_executed("note:1").await;
    gateway.process.kill().await;
    let mut answers = [shim.answer().await, shim.answer().await];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let outcome = &answers[0]["result"]["_meta"]["dev.evermoor/outcome"];
    assert_eq!(outcome["outcome"], "unknown", "{answers:?}");
    assert_eq!(answers[1]["result"]["contents"][0]["text"], "note:1", "{answers:?}");
    shim.send(&call(3, "record", "after")).await;
    assert_eq!(shim.answer().await["id"], 3);
    assert_eq!((upstream.ledger.executions("cut"), upstream.ledger.executions("after")), (1, 1));
}

#[tokio::test]
async fn whatever_the_editor_writes_only_messages_come_back() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let _gateway = scene.gateway(&[&upstream]).await;
    let mut shim = ShimProcess::start(&scene.home(), Some("notes")).initialized().await;
    for (line, code) in [("nonsense", -32700), ("{}", -32600), ("[1,2]", -32600), ("\u{0}", -32700)]
    {
        shim.send(line).await;
        assert_eq!(shim.answer().await["error"]["code"], code, "{line}");
    }
    let long = call(7, "record", &"x".repeat(5 << 20));
    shim.send(&long).await;
    let refused = shim.answer().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(7), &json!(-32600)));
    assert!(refused["error"]["message"].as_str().unwrap().contains("larger than 4 MiB"));
    shim.send(&call(8, "record", "goes on")).await;
    assert_eq!(shim.answer().await["id"], 8);
}

#[tokio::test]
async fn an_answer_of_many_lines_is_one_line_for_the_editor() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    upstream.next(1, "tools/call", Act::Reply(ScriptedReply::Pretty)).await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let mut shim = ShimProcess::start(&scene.home(), Some("notes")).initialized().await;
    shim.send(&call(1, "record", "pretty")).await;
    assert_eq!(shim.answer().await["result"]["content"][0]["text"], "pretty");
}

#[tokio::test]
async fn it_exits_at_end_of_input_or_on_a_signal_even_during_a_call() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let began = Instant::now();
    // Windows has no signals.
    let ways = if cfg!(windows) { &[(1, false)][..] } else { &[(1, false), (2, true)] };
    for (number, notified) in ways.iter().copied() {
        let mut shim = ShimProcess::start(&scene.home(), Some("notes")).initialized().await;
        let nonce = format!("for ever {number}");
        shim.send(&call(1, "hang", &nonce)).await;
        upstream.until_executed(&nonce).await;
        if notified {
            terminate(shim.process.pid());
            assert!(shim.process.ended().await.success());
        } else {
            assert!(shim.leave().await.success());
        }
    }
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[tokio::test]
async fn if_no_gateway_can_be_started_it_says_why_and_works_as_soon_as_one_runs() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    scene.write("", "[upstreams.notes]\nurl = 7\n");
    let mut shim = ShimProcess::start(&scene.home(), None);
    shim.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string()).await;
    let refused: Value = shim.answer().await;
    assert!(refused.to_string().contains("config.toml"), "{refused}");
    scene.configure("", &[&upstream]);
    let gateway = Gateway::start(&scene.home()).await;
    gateway.until_connected("notes").await;
    let mut shim = shim.initialized().await;
    shim.send(&call(2, "notes__record", "late")).await;
    assert_eq!(shim.answer().await["result"]["content"][0]["text"], "late");
}

#[cfg(unix)]
fn terminate(pid: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
}

#[cfg(windows)]
fn terminate(pid: u32) {
    evermoor_platform::process::spawn::kill(pid).unwrap();
}
