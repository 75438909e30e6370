//! `evermoor connect`: an editor over standard input and output.

use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::gateway::runtime;
use serde_json::json;

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
    let _end = EndGateway(runtime(&scene.home()).pid);
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
    let _end = EndGateway(runtime(&scene.home()).pid);
    assert_eq!(upstream.ledger.executions("after"), 1);
}

/// Ends a gateway that was started by a shim and belongs to nobody.
struct EndGateway(u32);

impl Drop for EndGateway {
    fn drop(&mut self) {
        let _ = evermoor_platform::process::kill(self.0);
    }
}
