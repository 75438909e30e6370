//! Calls in progress during a takeover.

use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::editor::wire::{Wire, WireEvents, request};
use evermoor_tests::fakes::program::{Program, runs, until_gone};
use evermoor_tests::gateway::Gateway;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;

const LATEST: &str = "2025-11-25";
const BOTH: &str = "application/json, text/event-stream";

async fn record(editor: &mut Editor, nonce: &str) {
    let result = editor.call("record", &json!({ "nonce": nonce })).await;
    assert_eq!(result["content"][0]["text"], nonce);
}

#[tokio::test]
async fn a_running_call_is_answered_once_by_the_old_gateway() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let ledger = upstream.ledger.clone();
    let mut old = scene.gateway(&[&upstream]).await;
    let (mut http, mut shim) =
        (old.editor("/mcp/notes").await, old.editor_over_shim(Some("notes")).await);
    let takeover = async {
        upstream.until_executed("over the shim").await;
        let new = Gateway::take_over(&scene.home()).await;
        assert!(old.process.is_running(), "it has calls to finish");
        record(&mut new.editor("/mcp/notes").await, "meanwhile").await;
        ledger.release("over HTTP");
        ledger.release("over the shim");
        new
    };
    let (slow, slow_too) = (json!({ "nonce": "over HTTP" }), json!({ "nonce": "over the shim" }));
    let (one, other, _new) =
        tokio::join!(http.call("wait", &slow), shim.call("wait", &slow_too), takeover);
    assert_eq!(one["content"][0]["text"], "over HTTP");
    assert_eq!(other["content"][0]["text"], "over the shim");
    assert!(old.process.ended().await.success());
    record(&mut http, "after over HTTP").await;
    record(&mut shim, "after over the shim").await;
    let once =
        ["over HTTP", "over the shim", "meanwhile", "after over HTTP", "after over the shim"];
    assert_eq!(once.map(|nonce| ledger.executions(nonce)), [1; 5]);
}

#[tokio::test]
async fn a_held_call_stays_with_the_old_gateway_and_runs_once() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut old = scene.gateway(&[&upstream]).await;
    old.until_connected("notes").await;
    let mut editor = old.editor("/mcp/notes").await;
    upstream.kill().await;
    old.until_down("notes").await;
    let takeover = async {
        let new = Gateway::take_over(&scene.home()).await;
        upstream.start_again().await;
        new
    };
    let held = json!({ "nonce": "held" });
    let (result, _new) = tokio::join!(editor.call("record", &held), takeover);
    assert_eq!(result["content"][0]["text"], "held");
    assert_eq!(upstream.ledger.executions("held"), 1);
    assert!(old.process.ended().await.success());
}

#[tokio::test]
async fn a_program_with_a_running_call_stays_until_it_has_answered() {
    let scene = Scene::new();
    let program = Program::new("notes", scene.path("notes.ledger"), &["kin"]);
    let mut old = scene.gateway_of("", &program.entry()).await;
    let mut editor = old.editor("/mcp/notes").await;
    let (life, kin) = (program.instance(1).await, program.kin(1).await);
    let takeover = async {
        program.until_executed("slow").await;
        let new = Gateway::take_over(&scene.home()).await;
        new.until_connected("notes").await;
        assert!(runs(life) && runs(kin), "they are no orphans");
        program.ledger.release("slow");
        new
    };
    let slow = json!({ "nonce": "slow" });
    let (result, _new) = tokio::join!(editor.call("wait", &slow), takeover);
    assert_eq!(result["content"][0]["text"], "slow");
    assert!(old.process.ended().await.success());
    until_gone(life).await;
    until_gone(kin).await;
    record(&mut editor, "after").await;
    assert_eq!((program.ledger.executions("slow"), program.starts()), (1, 2));
    assert!(runs(program.instance(2).await) && runs(program.kin(2).await));
}

#[tokio::test]
async fn an_answer_to_a_question_reaches_the_gateway_that_asked() {
    let scene = Scene::new();
    let program = Program::new("notes", scene.path("notes.ledger"), &[]);
    let mut old = scene.gateway_of("", &program.entry()).await;
    old.until_connected("notes").await;
    let wire = Wire::to(&old, "/mcp/notes").initialized(LATEST, json!({ "elicitation": {} })).await;
    let call = request(1, "tools/call", json!({ "name": "ask" }));
    let mut said = WireEvents::of(wire.send(Method::POST, Some(&call), BOTH).await);
    let (_, question) = said.next().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let mut new = Gateway::take_over(&scene.home()).await;
    let mut newest = Gateway::take_over(&scene.home()).await;
    let answer =
        json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept" } });
    assert_eq!(wire.post(&answer).await.status, StatusCode::ACCEPTED);
    let (_, result) = said.next().await.unwrap();
    assert_eq!(result["result"]["content"][0]["text"], r#"{"action":"accept"}"#);
    assert!(said.next().await.is_none());
    assert!(old.process.ended().await.success());
    assert!(new.process.ended().await.success(), "it was only in between");
    assert!(newest.process.is_running());
    assert_eq!(program.ledger.executions("asked: accept"), 1);
}

#[tokio::test]
async fn a_call_at_the_old_gateway_can_still_be_cancelled() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut old = scene.gateway(&[&upstream]).await;
    old.until_connected("notes").await;
    let wire = Wire::to(&old, "/mcp/notes").initialized(LATEST, json!({})).await;
    // The old gateway has certainly sent this call, because it is executed. Nobody needs its answer.
    let params = json!({ "name": "hang", "arguments": { "nonce": "unwanted" } });
    let (caller, message) = (wire.clone(), request(9, "tools/call", params));
    let mut calling = JoinSet::new();
    calling.spawn(async move { caller.post(&message).await });
    upstream.until_executed("unwanted").await;
    let _new = Gateway::take_over(&scene.home()).await;
    let gone = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } });
    assert_eq!(wire.post(&gone).await.status, StatusCode::ACCEPTED);
    let answer = calling.join_next().await.unwrap().unwrap();
    assert!(answer.messages.is_empty(), "nobody is told anything");
    assert!(old.process.ended().await.success());
}

#[tokio::test]
async fn a_pending_answer_on_an_sse_stream_is_sent_before_the_stream_ends() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut old = scene.gateway(&[&upstream]).await;
    old.until_connected("notes").await;
    let opened = Wire::to(&old, "/sse/notes").send(Method::GET, None, "text/event-stream").await;
    let mut events = WireEvents::of(opened);
    let (_, address) = events.next_text().await.unwrap();
    let params = json!({ "name": "wait", "arguments": { "nonce": "slow" } });
    let posted = Wire::to(&old, &address).post(&request(1, "tools/call", params)).await;
    assert_eq!(posted.status, StatusCode::ACCEPTED);
    upstream.until_executed("slow").await;
    let _new = Gateway::take_over(&scene.home()).await;
    upstream.ledger.release("slow");
    let (_, answer): (_, Value) = events.next().await.unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "slow");
    assert!(events.next().await.is_none(), "the editor opens the next one elsewhere");
    assert!(old.process.ended().await.success());
    assert_eq!(upstream.ledger.executions("slow"), 1);
}

// Elsewhere only the control API can ask, and that of the new gateway answers.
#[cfg(unix)]
#[tokio::test]
async fn an_old_gateway_that_is_told_to_stop_answers_its_calls_and_exits_soon() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut old = scene.gateway(&[&upstream]).await;
    let mut editor = old.editor("/mcp/notes").await;
    let stop = async {
        upstream.until_executed("endless").await;
        let new = Gateway::take_over(&scene.home()).await;
        assert!(old.process.is_running());
        old.ask_to_stop().await;
        new
    };
    let (answer, new) = tokio::join!(editor.attempt("hang", "endless"), stop);
    assert_eq!(answer.why(), (-33012, "gateway_restarted"), "{answer:?}");
    assert!(old.process.ended().await.success(), "long before the two minutes are over");
    record(&mut new.editor("/mcp/notes").await, "after").await;
    assert_eq!(upstream.ledger.executions("endless"), 1);
}

#[tokio::test]
async fn a_call_running_when_the_gateway_stops_is_answered_with_what_is_known() {
    let scene = Scene::new();
    let (mut there, mut away) = (scene.upstream("there").await, scene.upstream("away").await);
    let mut gateway = scene.gateway(&[&there, &away]).await;
    let (mut sent, mut held) =
        (gateway.editor("/mcp/there").await, gateway.editor("/mcp/away").await);
    gateway.until_connected("away").await;
    away.kill().await;
    gateway.until_down("away").await;
    let stop = async {
        there.until_executed("endless").await;
        gateway.ask_to_stop().await;
    };
    let (sent, held, ()) =
        tokio::join!(sent.attempt("hang", "endless"), held.attempt("record", "held"), stop);
    assert_eq!(sent.why(), (-33012, "gateway_restarted"), "{sent:?}");
    assert_eq!(held.why(), (-33007, "shutting_down"), "{held:?}");
    assert!(gateway.process.ended().await.success());
}
