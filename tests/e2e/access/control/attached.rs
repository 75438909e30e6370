//! The list of connected editors.

use evermoor_core::api::{ClientTransport, ConnectedClient};
use evermoor_tests::Scene;
use evermoor_tests::editor::wire::Wire;
use evermoor_tests::gateway::Gateway;
use http::Method;
use serde_json::json;

async fn until_attached(gateway: &Gateway, number: usize) -> Vec<ConnectedClient> {
    gateway.until_status(|status| status.attached.len() == number).await.attached
}

#[tokio::test]
async fn an_editor_is_listed_with_its_name_and_transport() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    assert_eq!(gateway.status().await.attached, []);
    let editor = gateway.editor("/mcp/notes").await;
    let over_http = until_attached(&gateway, 1).await.remove(0);
    assert_eq!((over_http.editor.as_str(), over_http.transport), ("local", ClientTransport::Http));
    assert_eq!(over_http.client.as_deref(), Some("scenario"));
    assert_eq!(
        (over_http.view.as_deref(), over_http.revision.as_str()),
        (Some("notes"), "2025-11-25")
    );
    let shim = gateway.editor_over_shim(None).await;
    let both = until_attached(&gateway, 2).await;
    let stdio = both.iter().find(|one| one.transport == ClientTransport::Stdio).unwrap();
    assert_eq!((stdio.client.as_deref(), stdio.view.as_deref()), (Some("scenario"), None));
    drop((editor, shim));
}

#[tokio::test]
async fn a_stateless_editor_is_listed_once() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let wire = Wire::to(&gateway, "/mcp");
    for id in 1..4 {
        wire.newer(id, "tools/list", json!({})).await;
    }
    let attached = until_attached(&gateway, 1).await.remove(0);
    assert_eq!((attached.revision.as_str(), attached.client), ("2026-07-28", None));
}

#[tokio::test]
async fn an_editor_leaves_the_list_when_its_session_or_its_stream_ends() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let wire = Wire::to(&gateway, "/mcp").initialized("2025-06-18", json!({})).await;
    until_attached(&gateway, 1).await;
    wire.send(Method::DELETE, None, "*/*").await;
    until_attached(&gateway, 0).await;
    let stream = Wire::to(&gateway, "/sse").listen(None).await;
    let older = until_attached(&gateway, 1).await.remove(0);
    assert_eq!((older.transport, older.revision.as_str()), (ClientTransport::Sse, "2024-11-05"));
    drop(stream);
    until_attached(&gateway, 0).await;
}
