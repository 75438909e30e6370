//! Other people's servers and clients.

use evermoor_tests::Scene;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::peers::{free_port, inspector, server_everything};
use serde_json::{Value, json};

#[tokio::test]
async fn the_reference_server_works_behind_the_gateway() {
    let scene = Scene::new();
    let port = free_port();
    let _server = server_everything(port);
    scene.configure("", &[]);
    let config = scene.home().join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let entry = format!("[upstreams.everything]\nurl = \"http://127.0.0.1:{port}/mcp\"\n");
    std::fs::write(&config, text + &entry).unwrap();
    let gateway = Gateway::start(&scene.home()).await;
    gateway.until_connected("everything").await;

    let mut editor = gateway.editor("/mcp/everything").await;
    let result = editor.call("echo", &json!({ "message": "through" })).await;
    assert_eq!(result["content"][0]["text"], "Echo: through");
    let prompts = editor.ask("prompts/list", &json!({})).await;
    assert!(!prompts["prompts"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn the_inspector_calls_a_tool_over_http() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let url = format!("{}/mcp", gateway.origin);
    let header = format!("Authorization: Bearer {}", gateway.token());
    let said = inspector(&[
        &url,
        "--transport",
        "http",
        "--header",
        &header,
        "--method",
        "tools/call",
        "--tool-name",
        "notes__record",
        "--tool-arg",
        "nonce=inspected",
    ])
    .await;
    let result: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(result["content"][0]["text"], "inspected");
    assert_eq!(upstream.ledger.executions("inspected"), 1);
}
