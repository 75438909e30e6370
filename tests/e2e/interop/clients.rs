//! Third-party clients, over HTTP with a token and over `evermoor connect`.

use evermoor_tests::Scene;
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::peers::client_reports::{
    ClientReport, TypeScript, typescript_over_http, typescript_over_stdio,
};
use evermoor_tests::peers::rmcp_client::{ClientHandshake, rust_over_http, rust_over_stdio};

async fn stage(scene: &Scene) -> (Upstream, Gateway) {
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    (upstream, gateway)
}

async fn typescript_works(sdk: TypeScript) {
    let scene = Scene::new();
    let (upstream, gateway) = stage(&scene).await;
    assert_eq!(typescript_over_http(sdk, &gateway).await, ClientReport::wanted());
    assert_eq!(typescript_over_stdio(sdk, &gateway).await, ClientReport::wanted());
    assert_eq!(upstream.ledger.executions("third party"), 2);
}

#[tokio::test]
async fn the_first_typescript_sdk_works() {
    typescript_works(TypeScript::First).await;
}

#[tokio::test]
async fn the_second_typescript_sdk_works() {
    typescript_works(TypeScript::Second).await;
}

#[tokio::test]
async fn the_second_typescript_sdk_works_when_it_asks_for_the_newest_revision() {
    typescript_works(TypeScript::SecondNegotiating).await;
}

async fn rust_works(handshake: ClientHandshake) {
    let scene = Scene::new();
    let (upstream, gateway) = stage(&scene).await;
    assert_eq!(rust_over_http(handshake, &gateway).await, ClientReport::wanted());
    assert_eq!(rust_over_stdio(handshake, &gateway).await, ClientReport::wanted());
    assert_eq!(upstream.ledger.executions("third party"), 2);
}

#[tokio::test]
async fn the_rust_sdk_works() {
    rust_works(ClientHandshake::Initialize).await;
}

#[tokio::test]
async fn the_rust_sdk_works_when_it_asks_for_the_newest_revision() {
    rust_works(ClientHandshake::Ask).await;
}

#[cfg(unix)]
#[tokio::test]
async fn claude_code_accepts_the_gateway_and_finds_it_healthy() {
    use evermoor_tests::peers::client_reports::claude;
    let scene = Scene::new();
    let (_upstream, gateway) = stage(&scene).await;
    let home = scene.path("claude");
    std::fs::create_dir(&home).unwrap();
    let url = format!("{}/mcp", gateway.origin);
    let header = format!("Authorization: Bearer {}", gateway.token());
    let add = ["mcp", "add", "-t", "http", "-s", "user", "evermoor", &url, "-H", &header];
    claude(&home, &add).await;
    let listed = claude(&home, &["mcp", "list"]).await;
    let line = listed.lines().find(|line| line.starts_with("evermoor:"));
    let line = line.unwrap_or_else(|| panic!("it knows the gateway: {listed}"));
    assert!(line.contains(&url) && line.ends_with("Connected"), "{listed}");
}
