//! 2026-07-28 calls to an upstream that needs input in the middle of its work.

use std::time::Duration;

use evermoor_tests::Scene;
use evermoor_tests::editor::wire::Wire;
use evermoor_tests::fakes::program::Program;
use evermoor_tests::gateway::Gateway;
use serde_json::{Value, json};

/// A stdio upstream that asks for input, behind a gateway.
async fn asking(scene: &Scene) -> (Program, Gateway, Wire) {
    let program = Program::new("notes", scene.path("notes.ledger"), &["social"]);
    let gateway = scene.gateway_of("", &program.entry()).await;
    gateway.until_connected("notes").await;
    let wire = Wire::to(&gateway, "/mcp/notes");
    (program, gateway, wire)
}

fn ask(extra: Value) -> Value {
    let mut params = json!({ "name": "ask", "capabilities": { "elicitation": { "form": {} } } });
    for (key, value) in extra.as_object().unwrap() {
        params[key] = value.clone();
    }
    params
}

/// The same call with the input it needed.
fn back(needed: &Value, name: &str) -> Value {
    let answer = json!({ "action": "accept", "content": { "name": name } });
    ask(json!({ "requestState": needed["requestState"], "inputResponses": { "answer": answer } }))
}

async fn needed(wire: &Wire) -> Value {
    let answer = wire.newer(1, "tools/call", ask(json!({}))).await;
    let result = answer.last()["result"].clone();
    assert_eq!(result["resultType"], "input_required", "{result}");
    assert_eq!(result["inputRequests"]["answer"]["method"], "elicitation/create");
    result
}

#[tokio::test]
async fn an_editor_that_returns_with_the_input_continues_the_same_call() {
    let scene = Scene::new();
    let (_program, _gateway, wire) = asking(&scene).await;
    let needed = needed(&wire).await;
    let answer = wire.newer(2, "tools/call", back(&needed, "Ada")).await;
    let answer = answer.last();
    assert_eq!((&answer["id"], &answer["result"]["resultType"]), (&json!(2), &json!("complete")));
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("Ada"), "{answer}");
}

#[tokio::test]
async fn a_request_state_works_once_and_only_for_its_own_call() {
    let scene = Scene::new();
    let (_program, _gateway, wire) = asking(&scene).await;
    let needed = needed(&wire).await;
    let mut other = back(&needed, "Eve");
    other["arguments"] = json!({ "nonce": "another call" });
    assert_eq!(wire.newer(2, "tools/call", other).await.code(), Some(-32602));
    let answer = wire.newer(3, "tools/call", back(&needed, "Ada")).await;
    assert_eq!(answer.last()["result"]["resultType"], "complete");
    assert_eq!(wire.newer(4, "tools/call", back(&needed, "Ada")).await.code(), Some(-32602));
}

#[tokio::test]
async fn a_request_state_of_an_earlier_gateway_never_repeats_the_call() {
    let scene = Scene::new();
    let (program, mut gateway, wire) = asking(&scene).await;
    let needed = needed(&wire).await;
    gateway.process.kill().await;
    let gateway = Gateway::start(&scene.home()).await;
    gateway.until_connected("notes").await;
    let wire = wire.at(&gateway, "/mcp/notes");
    let answer = wire.newer(2, "tools/call", back(&needed, "Ada")).await;
    let result = &answer.last()["result"];
    assert_eq!(result["_meta"]["dev.evermoor/outcome"]["outcome"], "unknown", "{result}");
    let why = result["content"][0]["text"].as_str().unwrap();
    assert!(why.contains("may or may not have been executed"), "{why}");
    assert_eq!(program.starts(), 2);
}

#[tokio::test]
async fn an_editor_that_cannot_be_asked_is_not() {
    let scene = Scene::new();
    let (_program, _gateway, wire) = asking(&scene).await;
    let answer = wire.newer(1, "tools/call", json!({ "name": "ask" }));
    let answer = tokio::time::timeout(Duration::from_secs(20), answer).await.unwrap();
    let text = answer.last()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("refused"), "{text}");
}
