//! The real tray, on a desktop of its own, read and clicked over D-Bus.

mod alerts;

use evermoor_tests::Scene;
use evermoor_tests::desktop::Desktop;
use evermoor_tests::gateway::{http, next_gateway, runtime};
use evermoor_tests::programs::built;
use serde_json::json;

#[tokio::test]
async fn the_tray_shows_an_upstream_connected_then_down_then_back() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let _gateway = scene.gateway(&[&upstream]).await;
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    tray.until_row("notes — Connected").await;
    let healthy = tray.icon().await;

    upstream.kill().await;
    tray.until_row("notes — Not running").await;
    tray.until_row("notes is not running").await;
    tray.until_row("Restart notes").await;
    tray.until_icon_differs(&healthy).await;

    upstream.start_again().await;
    tray.until_row("notes — Connected").await;
    tray.until_row("notes is connected").await;
}

#[tokio::test]
async fn everything_is_paused_and_resumed_in_the_tray_menu() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let _gateway = scene.gateway(&[&upstream]).await;
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    tray.until_row("notes — Connected").await;
    let healthy = tray.icon().await;
    tray.click("Pause").await;
    tray.until_row("notes is paused").await;
    tray.until_icon_differs(&healthy).await;
    tray.click("Resume").await;
    tray.until_row("notes — Connected").await;
}

#[tokio::test]
async fn the_tray_starts_a_gateway_and_quitting_leaves_it_serving() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    scene.configure("", &[&upstream]);
    let desktop = Desktop::start().await;
    let mut app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    tray.until_row("notes — Connected").await;
    let gateway = runtime(&scene.home());
    let _end = EndGateway(gateway.pid);

    tray.click("Quit Evermoor").await;
    assert!(app.ended().await.success());
    let health = http().get(format!("{}/healthz", gateway.origin)).send().await.unwrap();
    assert!(health.status().is_success());
}

#[tokio::test]
async fn the_tray_starts_the_gateway_again_when_it_dies_and_editors_go_on() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    scene.configure(
        &format!("listen = \"127.0.0.1:{}\"", evermoor_tests::peers::free_port()),
        &[&upstream],
    );
    let mut gateway = evermoor_tests::gateway::Gateway::start(&scene.home()).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    tray.until_row("notes — Connected").await;

    let before = gateway.process.pid();
    gateway.process.kill().await;
    let next = next_gateway(&scene.home(), before).await;
    let _end = EndGateway(next.pid);
    tray.until_row("notes — Connected").await;
    editor.call("record", &json!({ "nonce": "same session" })).await;
    assert_eq!(upstream.ledger.executions("same session"), 1);
}

#[tokio::test]
async fn a_second_tray_ends_at_once() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let desktop = Desktop::start().await;
    let mut first = launch(&desktop, &scene);
    desktop.tray().await.until_row("Demo — Connected").await;
    let mut second = launch(&desktop, &scene);
    assert!(second.ended().await.success());
    assert!(first.is_running());
}

fn launch(desktop: &Desktop, scene: &Scene) -> evermoor_tests::desktop::Program {
    let variables = [("EVERMOOR_HOME", scene.home()), ("EVERMOOR_BIN", built("evermoor"))];
    desktop.launch(&built("evermoor-tray"), [], variables)
}

/// Ends a gateway that belongs to nobody.
struct EndGateway(u32);

impl Drop for EndGateway {
    fn drop(&mut self) {
        let _ = evermoor_platform::process::kill(self.0);
    }
}
