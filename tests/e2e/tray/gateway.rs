//! The tray starts, adopts and restarts the gateway, and leaves a supervised one alone.

use evermoor_tests::Scene;
use evermoor_tests::desktop::Desktop;
use evermoor_tests::gateway::{Gateway, http, next_gateway, pretend, runtime};
use evermoor_tests::scene::programs::evermoor;
use evermoor_tests::scene::wait::until;
use serde_json::json;

use super::launch;

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

    tray.click("Quit Evermoor").await;
    assert!(app.ended().await.success());
    let health = http().get(format!("{}/healthz", gateway.origin)).send().await.unwrap();
    assert!(health.status().is_success());
}

#[tokio::test]
async fn the_tray_restarts_a_dead_gateway_and_editors_continue() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    scene.configure(
        &format!("listen = \"127.0.0.1:{}\"", evermoor_tests::peers::free_port()),
        &[&upstream],
    );
    let mut gateway = Gateway::start(&scene.home()).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    tray.until_row("notes — Connected").await;

    let before = gateway.process.pid();
    gateway.process.kill().await;
    next_gateway(&scene.home(), before).await;
    tray.until_row("notes — Connected").await;
    editor.call("record", &json!({ "nonce": "same session" })).await;
    assert_eq!(upstream.ledger.executions("same session"), 1);
}

#[tokio::test]
async fn a_gateway_that_the_user_stopped_stays_stopped_until_it_is_started_from_the_menu() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    scene.configure("", &[&upstream]);
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    tray.until_row("notes — Connected").await;
    let before = runtime(&scene.home()).pid;

    let stopped = evermoor(&scene.home()).arg("stop").output().await.unwrap();
    assert_eq!(String::from_utf8_lossy(&stopped.stdout), "Evermoor is stopped.\n");
    tray.until_row("Evermoor is stopped").await;
    tray.click("Start Evermoor").await;
    tray.until_row("notes — Connected").await;
    assert_ne!(runtime(&scene.home()).pid, before);
}

#[tokio::test]
async fn quitting_stops_the_gateway_too_if_that_is_set() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    scene.configure("", &[&upstream]);
    let config = scene.home().join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{text}\n[tray]\nquit_stops_gateway = true\n")).unwrap();
    let desktop = Desktop::start().await;
    let mut app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    tray.until_row("notes — Connected").await;
    let gateway = runtime(&scene.home());
    tray.click("Quit Evermoor and stop the gateway").await;
    assert!(app.ended().await.success());
    until("the gateway ends", || evermoor_platform::process::info::of(gateway.pid).is_none()).await;
}

#[tokio::test]
async fn a_gateway_of_the_system_is_left_to_its_supervisor() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    scene.configure("", &[&upstream]);
    let supervised = [("EVERMOOR_SUPERVISED", "1")];
    let mut gateway = Gateway::start_among(&scene.home(), &supervised).await;
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    tray.until_row("notes — Connected").await;

    gateway.process.kill().await;
    tray.until_row("Its service is restarting it.").await;
    let gateway = Gateway::start_among(&scene.home(), &supervised).await;
    tray.until_row("notes — Connected").await;
    assert_eq!(runtime(&scene.home()).pid, gateway.process.pid(), "it is the supervisor's");
}

#[tokio::test]
async fn an_older_gateway_is_replaced_and_a_held_call_is_answered() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut old = scene.gateway(&[&upstream]).await;
    old.until_connected("notes").await;
    let mut editor = old.editor("/mcp/notes").await;
    upstream.kill().await;
    old.until_down("notes").await;
    pretend(&scene.home(), "0.0.1");
    let waits = json!({ "nonce": "waits" });
    let call = editor.call("record", &waits);
    let desktop = Desktop::start().await;
    let replacing = async {
        let app = launch(&desktop, &scene);
        let new = next_gateway(&scene.home(), old.process.pid()).await;
        let tray = desktop.tray().await;
        upstream.start_again().await;
        tray.until_row("notes — Connected").await;
        assert_eq!(new.version, env!("CARGO_PKG_VERSION"));
        app
    };
    let (_answer, _app) = tokio::join!(call, replacing);
    assert_eq!(upstream.ledger.executions("waits"), 1);
    assert!(old.process.ended().await.success());
}
