//! Upstreams that editors share, and upstreams of which each editor has its own: processes, server
//! requests, notifications.

use evermoor_tests::Scene;
use evermoor_tests::editor::wire::{Wire, WireEvents, request};
use evermoor_tests::fakes::program::{Program, until_gone};
use evermoor_tests::gateway::Gateway;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const LATEST: &str = "2025-11-25";
const BOTH: &str = "application/json, text/event-stream";

/// A stdio upstream named `notes`, shared according to `sharing`.
async fn notes(scene: &Scene, sharing: &str) -> (Program, Gateway) {
    let program = Program::new("notes", scene.path("notes.ledger"), &["social"]);
    let entry = format!("{}sharing = \"{sharing}\"\n", program.entry());
    let gateway = scene.gateway_of("", &entry).await;
    gateway.until_connected("notes").await;
    (program, gateway)
}

async fn editor(gateway: &Gateway) -> Wire {
    let asks = json!({ "elicitation": {} });
    Wire::to(gateway, "/mcp/notes").initialized(LATEST, asks).await
}

fn call(id: u64, tool: &str, nonce: &str) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": { "nonce": nonce } }))
}

async fn process(wire: &Wire) -> u32 {
    let answer = wire.post(&call(1, "process", "")).await;
    answer.last()["result"]["content"][0]["text"].as_str().unwrap().parse().unwrap()
}

/// Starts a call that sends a request back, and returns its stream and that request.
async fn asked(wire: &Wire) -> (WireEvents, Value) {
    let mut stream = WireEvents::of(wire.send(Method::POST, Some(&call(2, "ask", "")), BOTH).await);
    let (_, question) = stream.next().await.unwrap();
    (stream, question)
}

#[tokio::test]
async fn editors_share_one_process_unless_a_person_says_otherwise() {
    let scene = Scene::new();
    let (program, gateway) = notes(&scene, "shared").await;
    let (one, other) = (editor(&gateway).await, editor(&gateway).await);
    assert_eq!(process(&one).await, process(&other).await);
    assert_eq!(program.starts(), 1);
}

#[tokio::test]
async fn each_session_can_have_its_own_process_until_it_ends() {
    let scene = Scene::new();
    let (_program, gateway) = notes(&scene, "per-client").await;
    let (one, other) = (editor(&gateway).await, editor(&gateway).await);
    let (first, second) = (process(&one).await, process(&other).await);
    assert_ne!(first, second);
    assert_eq!((process(&one).await, process(&other).await), (first, second));
    let ended = one.send(Method::DELETE, None, "*/*").await;
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    until_gone(first).await;
    assert_eq!(process(&other).await, second);
}

#[tokio::test]
async fn a_stateless_editor_can_have_its_own_process_too() {
    let scene = Scene::new();
    let (_program, gateway) = notes(&scene, "per-client").await;
    let newer = Wire::to(&gateway, "/mcp/notes");
    let process_of = async |id| {
        let answer = newer.newer(id, "tools/call", json!({ "name": "process" })).await;
        answer.last()["result"]["content"][0]["text"].clone()
    };
    let first = process_of(1).await;
    assert_eq!(process_of(2).await, first);
    assert_ne!(first, json!(process(&editor(&gateway).await).await.to_string()));
}

#[tokio::test]
async fn notifications_from_an_editors_own_process_reach_no_other_editor() {
    let scene = Scene::new();
    let (_program, gateway) = notes(&scene, "per-client").await;
    let (one, other) = (editor(&gateway).await, editor(&gateway).await);
    let (mut ones, mut others) = (one.listen(None).await, other.listen(None).await);
    for wire in [&one, &other] {
        let subscribe = request(3, "resources/subscribe", json!({ "uri": "note:1" }));
        assert_eq!(wire.post(&subscribe).await.last()["result"], json!({}));
    }
    one.post(&call(4, "touch", "")).await;
    other.post(&call(5, "log", "of the other")).await;
    let (_, notification) = ones.next().await.unwrap();
    assert_eq!(notification["method"], "notifications/resources/updated");
    let (_, notification) = others.next().await.unwrap();
    assert_eq!(notification["params"]["data"], "of the other", "and nothing of the first one's");
}

#[tokio::test]
async fn two_editors_with_their_own_processes_can_be_asked_at_once() {
    let scene = Scene::new();
    let (_program, gateway) = notes(&scene, "per-client").await;
    let (one, other) = (editor(&gateway).await, editor(&gateway).await);
    let ((ones, question), (others, question_to_other)) = (asked(&one).await, asked(&other).await);
    for (wire, question, name, mut stream) in
        [(&other, question_to_other, "Eve", others), (&one, question, "Ada", ones)]
    {
        assert_eq!(question["method"], "elicitation/create");
        let result = json!({ "action": "accept", "content": { "name": name } });
        let said = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        assert_eq!(wire.post(&said).await.status, StatusCode::ACCEPTED);
        let (_, answer) = stream.next().await.unwrap();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(name), "{text}");
    }
}

#[tokio::test]
async fn a_changed_entry_applies_to_every_process() {
    let scene = Scene::new();
    let (program, gateway) = notes(&scene, "per-client").await;
    let one = editor(&gateway).await;
    let own = process(&one).await;
    let shared = program.instance(1).await;
    scene.write("", &format!("{}sharing = \"shared\"\n", program.entry()));
    until_gone(own).await;
    assert_eq!(process(&one).await, shared);
}

#[tokio::test]
async fn an_editor_gets_no_log_messages_that_only_another_asked_for() {
    let scene = Scene::new();
    let (_program, gateway) = notes(&scene, "shared").await;
    let (quiet, curious) = (editor(&gateway).await, editor(&gateway).await);
    for (wire, level) in [(&quiet, "error"), (&curious, "debug")] {
        let set_level = request(3, "logging/setLevel", json!({ "level": level }));
        assert_eq!(wire.post(&set_level).await.last()["result"], json!({}));
    }
    let (mut ones, mut others) = (quiet.listen(None).await, curious.listen(None).await);
    quiet.post(&call(4, "log", "chatter")).await;
    let subscribe = request(5, "resources/subscribe", json!({ "uri": "note:1" }));
    quiet.post(&subscribe).await;
    quiet.post(&call(6, "touch", "")).await;
    assert_eq!(others.next().await.unwrap().1["params"]["data"], "chatter");
    assert_eq!(ones.next().await.unwrap().1["method"], "notifications/resources/updated");
}

#[tokio::test]
async fn a_subscription_survives_a_gateway_restart() {
    let scene = Scene::new();
    let (program, mut gateway) = notes(&scene, "shared").await;
    let wire = editor(&gateway).await;
    let subscribe = request(3, "resources/subscribe", json!({ "uri": "note:1" }));
    assert_eq!(wire.post(&subscribe).await.last()["result"], json!({}));
    scene.until_written("sessions.json").await;
    gateway.process.kill().await;
    let gateway = Gateway::start(&scene.home()).await;
    gateway.until_connected("notes").await;
    let wire = wire.at(&gateway, "/mcp/notes");
    let mut notifications = wire.listen(Some("n.00000000.1")).await;
    wire.post(&call(4, "touch", "")).await;
    while notifications.next().await.unwrap().1["method"] != "notifications/resources/updated" {}
    assert!(program.ledger.executions("resources/subscribe") > 1);
}
