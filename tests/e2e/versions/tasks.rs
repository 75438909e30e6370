//! Tasks of 2025-11-25 and of the 2026-07-28 extension, each for editors of the other version.

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_tests::editor::wire::{Wire, request};
use evermoor_tests::fakes::single_version::FakeTransport;
use evermoor_tests::gateway::Gateway;
use serde_json::{Value, json};

use super::fixture::{NEW, OLD, World, able, converse, text};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// A request from a 2026-07-28 client that supports tasks.
async fn newer(wire: &Wire, method: &str, mut params: Value) -> Value {
    let mut able = able();
    able["extensions"] = json!({ EXTENSION: {} });
    params["capabilities"] = able;
    let wire = match params["taskId"].as_str() {
        Some(task) => wire.clone().with("mcp-name", task),
        None => wire.clone(),
    };
    wire.newer(1, method, params).await.last().clone()
}

fn slow(tool: &str, nonce: &str) -> Value {
    json!({ "name": tool, "arguments": { "nonce": nonce } })
}

#[tokio::test]
async fn a_newer_editor_follows_the_task_of_an_older_server_across_a_restart_of_the_gateway() {
    let World { scene, upstream, mut gateway } = World::new(OLD, FakeTransport::Http).await;
    let wire = Wire::to(&gateway, "/mcp/era");
    let found = newer(&wire, "server/discover", json!({})).await;
    assert!(found["result"]["capabilities"]["extensions"].get(EXTENSION).is_some(), "{found}");
    let made = newer(&wire, "tools/call", slow("slow", "n")).await["result"].clone();
    assert_eq!(
        (&made["resultType"], &made["status"]),
        (&json!("task"), &json!("working")),
        "{made}"
    );
    assert!(made["ttlMs"].is_u64() && made["pollIntervalMs"].is_u64());
    gateway.process.kill().await;
    let gateway = Gateway::start(&scene.home()).await;
    gateway.until_connected("era").await;
    let wire = wire.at(&gateway, "/mcp/era");
    let about = json!({ "taskId": made["taskId"] });
    assert_eq!(newer(&wire, "tasks/get", about.clone()).await["result"]["status"], "working");
    upstream.ledger.release("n");
    let end = newer(&wire, "tasks/get", about).await["result"].clone();
    assert_eq!((&end["status"], &end["resultType"]), (&json!("completed"), &json!("complete")));
    assert_eq!(end["result"]["content"][0]["text"], "n");
    assert_eq!(upstream.ledger.executions("n"), 1);
}

#[tokio::test]
async fn a_newer_editor_answers_requests_of_an_older_servers_task() {
    let world = World::new(OLD, FakeTransport::Http).await;
    let wire = world.newer();
    let made = newer(&wire, "tools/call", slow("slow_ask", "n")).await["result"].clone();
    let about = json!({ "taskId": made["taskId"] });
    for _ in 0..2 {
        let state = newer(&wire, "tasks/get", about.clone()).await["result"].clone();
        assert_eq!(state["status"], "input_required", "{state}");
        assert_eq!(state["inputRequests"]["answer"]["method"], "elicitation/create");
    }
    let mut update = about.clone();
    update["inputResponses"] =
        json!({ "answer": { "action": "accept", "content": { "name": "Ada" } } });
    assert_eq!(newer(&wire, "tasks/update", update).await["result"]["resultType"], "complete");
    world.upstream.ledger.release("n");
    let mut end = json!({});
    while end["status"] != "completed" {
        end = newer(&wire, "tasks/get", about.clone()).await["result"].clone();
    }
    assert!(end["result"]["content"][0]["text"].as_str().unwrap().contains("Ada"), "{end}");
}

#[tokio::test]
async fn an_older_editor_follows_the_task_of_a_newer_server() {
    let world = World::new(NEW, FakeTransport::Http).await;
    let wire = world.older(SessionVersion::V2025_11_25, able()).await;
    let listed = wire.post(&request(1, "tools/list", json!({}))).await.last().clone();
    assert_eq!(listed["result"]["tools"][0]["execution"]["taskSupport"], "optional");
    let mut params = slow("slow", "n");
    params["task"] = json!({ "ttl": 60000 });
    let made = wire.post(&request(2, "tools/call", params)).await.last()["result"].clone();
    assert_eq!(made["task"]["status"], "working", "{made}");
    assert_eq!((made["task"]["ttl"].is_u64(), made.get("resultType")), (true, None));
    let about = json!({ "taskId": made["task"]["taskId"] });
    let state = wire.post(&request(3, "tasks/get", about.clone())).await.last()["result"].clone();
    assert_eq!(state["status"], "working");
    let wait = request(4, "tasks/result", about);
    let release = async { world.upstream.ledger.release("n") };
    let (end, ()) = tokio::join!(wire.post(&wait), release);
    assert_eq!(text(end.last()), "n");
    assert_eq!(end.last()["result"]["_meta"][RELATED]["taskId"], made["task"]["taskId"]);
}

#[tokio::test]
async fn an_older_editor_follows_the_task_of_a_newer_server_across_a_restart_of_the_gateway() {
    let World { scene, upstream, mut gateway } = World::new(NEW, FakeTransport::Http).await;
    let wire = Wire::to(&gateway, "/mcp/era").initialized("2025-11-25", able()).await;
    let mut params = slow("slow", "n");
    params["task"] = json!({ "ttl": 60000 });
    let made = wire.post(&request(1, "tools/call", params)).await.last()["result"].clone();
    assert_eq!(made["task"]["status"], "working", "{made}");
    gateway.process.kill().await;
    let gateway = Gateway::start(&scene.home()).await;
    gateway.until_connected("era").await;
    let wire = wire.at(&gateway, "/mcp/era");
    let about = json!({ "taskId": made["task"]["taskId"] });
    let state = wire.post(&request(2, "tasks/get", about.clone())).await.last().clone();
    assert_eq!(state["result"]["status"], "working", "{state}");
    upstream.ledger.release("n");
    let end = wire.post(&request(3, "tasks/result", about)).await.last().clone();
    assert_eq!(text(&end), "n");
    assert_eq!(upstream.ledger.executions("n"), 1);
}

#[tokio::test]
async fn an_older_editor_is_asked_for_the_input_of_a_newer_servers_task() {
    let world = World::new(NEW, FakeTransport::Stdio).await;
    let wire = world.older(SessionVersion::V2025_11_25, able()).await;
    let mut params = slow("slow_ask", "n");
    params["task"] = json!({});
    let made = wire.post(&request(2, "tools/call", params)).await.last()["result"].clone();
    world.upstream.ledger.release("n");
    let message = ("tasks/result", json!({ "taskId": made["task"]["taskId"] }));
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    let (asked, last) = converse(&wire, 3, message, answer).await;
    assert_eq!(asked["method"], "elicitation/create");
    assert!(text(&last).contains("Ada"), "{last}");
}

#[tokio::test]
async fn a_task_that_an_older_editor_cancels_is_cancelled() {
    let world = World::new(NEW, FakeTransport::Http).await;
    let wire = world.older(SessionVersion::V2025_11_25, json!({})).await;
    let mut params = slow("slow", "n");
    params["task"] = json!({});
    let made = wire.post(&request(2, "tools/call", params)).await.last()["result"].clone();
    let about = json!({ "taskId": made["task"]["taskId"] });
    let reply = wire.post(&request(3, "tasks/cancel", about)).await.last().clone();
    assert_eq!(reply["result"]["status"], "cancelled", "{reply}");
    assert_eq!(world.upstream.ledger.executions("cancelled n"), 1);
}

#[tokio::test]
async fn a_call_that_a_newer_server_answers_directly_is_a_completed_task_for_an_older_editor() {
    let world = World::new(NEW, FakeTransport::Http).await;
    let wire = world.older(SessionVersion::V2025_11_25, json!({})).await;
    let mut params = slow("echo", "n");
    params["task"] = json!({});
    let made = wire.post(&request(2, "tools/call", params)).await.last()["result"].clone();
    assert_eq!(made["task"]["status"], "completed", "{made}");
    let about = json!({ "taskId": made["task"]["taskId"] });
    let end = wire.post(&request(3, "tasks/result", about)).await.last().clone();
    assert_eq!(text(&end), "n");
}

#[tokio::test]
async fn tasks_are_not_offered_on_the_combined_path() {
    for protocol_version in [NEW, OLD] {
        let world = World::new(protocol_version, FakeTransport::Http).await;
        let wire = Wire::to(&world.gateway, "/mcp");
        let done = newer(&wire, "tools/call", slow("era__slow", "n")).await;
        assert_eq!(text(&done), "n", "{done}");
    }
}
