//! Third-party servers and clients.
//!
//! The gateway gets a bare address or a bare command. The server is killed and started again
//! without its state; its editor must not notice, and nothing may run twice.

use std::sync::Arc;

use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::peers::{Maker, Over, Remote, inspector, python_client};
use serde_json::{Value, json};

/// A server behind a gateway, connected, and an editor that has called it.
async fn behind_a_gateway(scene: &Scene, maker: Maker, over: Over) -> (Remote, Gateway, Editor) {
    let server = Remote::start(scene, maker, over).await;
    let gateway = scene.gateway_of("", &server.entry()).await;
    gateway.until_connected("peer").await;
    let mut editor = gateway.editor("/mcp/peer").await;
    server.recorder.run(&mut editor, "before").await;
    (server, gateway, editor)
}

/// The server dies, is called, and comes back without its state.
async fn dies_and_comes_back(maker: Maker, over: Over) {
    let scene = Scene::new();
    let (mut server, gateway, mut editor) = behind_a_gateway(&scene, maker, over).await;
    let recorder = Arc::clone(&server.recorder);
    server.kill().await;
    gateway.until_down("peer").await;
    tokio::join!(recorder.run(&mut editor, "held"), server.start_again());
    recorder.run(&mut editor, "after").await;
    for nonce in ["before", "held", "after"] {
        assert_eq!(recorder.executions(nonce), 1, "{nonce}");
    }
}

/// The session is ended from outside while the server keeps running.
async fn forgets_the_session(maker: Maker) {
    let scene = Scene::new();
    let over = Over::StreamableHttp;
    let (mut server, _gateway, mut editor) = behind_a_gateway(&scene, maker, over).await;
    let session = server.session().await;
    server.end_session(&session).await;
    server.recorder.run(&mut editor, "after").await;
    assert_ne!(server.session().await, session);
    assert_eq!((server.recorder.executions("before"), server.recorder.executions("after")), (1, 1));
}

#[tokio::test]
async fn the_reference_server_comes_back_over_streamable_http() {
    dies_and_comes_back(Maker::Everything, Over::StreamableHttp).await;
}

#[tokio::test]
async fn the_reference_server_comes_back_over_http_and_sse() {
    dies_and_comes_back(Maker::Everything, Over::Events).await;
}

#[tokio::test]
async fn a_python_server_comes_back_over_streamable_http() {
    dies_and_comes_back(Maker::Python, Over::StreamableHttp).await;
}

#[tokio::test]
async fn a_python_server_comes_back_over_http_and_sse() {
    dies_and_comes_back(Maker::Python, Over::Events).await;
}

#[tokio::test]
async fn an_rmcp_server_comes_back_without_sessions() {
    dies_and_comes_back(Maker::Rmcp, Over::StreamableHttp).await;
}

#[tokio::test]
async fn an_rmcp_server_comes_back_with_sessions() {
    dies_and_comes_back(Maker::RmcpWithSessions, Over::StreamableHttp).await;
}

#[tokio::test]
async fn the_reference_server_can_lose_a_session_and_keep_running() {
    forgets_the_session(Maker::Everything).await;
}

#[tokio::test]
async fn an_rmcp_server_can_lose_a_session_and_keep_running() {
    forgets_the_session(Maker::RmcpWithSessions).await;
}

#[tokio::test]
async fn the_prompts_of_the_reference_server_pass_through() {
    let scene = Scene::new();
    let (_server, _gateway, mut editor) =
        behind_a_gateway(&scene, Maker::Everything, Over::StreamableHttp).await;
    let prompts = editor.ask("prompts/list", &json!({})).await;
    assert!(!prompts["prompts"].as_array().unwrap().is_empty());
}

/// A stdio server is killed between two calls, and the gateway starts it again.
#[cfg(target_os = "linux")]
async fn dies_and_is_started_again(maker: Maker) {
    let scene = Scene::new();
    let program = evermoor_tests::peers::Child::new(&scene, maker).await;
    let gateway = scene.gateway_of("", &program.entry()).await;
    let mut editor = gateway.editor("/mcp/peer").await;
    gateway.until_connected("peer").await;
    program.recorder.run(&mut editor, "before").await;
    program.kill(&gateway).await;
    program.recorder.run(&mut editor, "after").await;
    for nonce in ["before", "after"] {
        assert_eq!(program.recorder.executions(nonce), 1, "{nonce}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_reference_server_is_restarted_over_stdio() {
    dies_and_is_started_again(Maker::Everything).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_python_server_is_restarted_over_stdio() {
    dies_and_is_started_again(Maker::Python).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_rmcp_server_is_restarted_over_stdio() {
    dies_and_is_started_again(Maker::Rmcp).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_older_rmcp_server_is_restarted_over_stdio() {
    dies_and_is_started_again(Maker::RmcpWithSessions).await;
}

/// An upstream behind a gateway, and the arguments for a client that calls its tool `record`.
async fn notes(scene: &Scene) -> (evermoor_tests::fakes::upstream::Upstream, Gateway, [String; 2]) {
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let address = [format!("{}/mcp", gateway.origin), gateway.token()];
    (upstream, gateway, address)
}

#[tokio::test]
async fn the_python_client_lists_and_calls_tools() {
    let scene = Scene::new();
    let (upstream, _gateway, [url, token]) = notes(&scene).await;
    let report = python_client(&[&url, &token, "notes__record", "hissed"]).await;
    assert_eq!((&report["tools"][0], &report["text"]), (&json!("notes__record"), &json!("hissed")));
    assert_eq!(upstream.ledger.executions("hissed"), 1);
}

#[tokio::test]
async fn the_inspector_calls_a_tool_over_http() {
    let scene = Scene::new();
    let (upstream, _gateway, [url, token]) = notes(&scene).await;
    let header = format!("Authorization: Bearer {token}");
    let call = [
        url.as_str(),
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
    ];
    let said = inspector(&scene, &call).await;
    let result: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(result["content"][0]["text"], "inspected");
    assert_eq!(upstream.ledger.executions("inspected"), 1);
}
