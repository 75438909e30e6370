//! Another process has the gateway's port.

use std::net::TcpListener;

use evermoor_tests::Scene;
use evermoor_tests::desktop::Desktop;
use evermoor_tests::gateway::runtime;

use super::launch;

#[tokio::test]
async fn a_port_in_use_is_named_and_a_click_moves_to_another() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    scene.configure(&format!("# ours\nlisten = \"127.0.0.1:{port}\""), &[&upstream]);
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    let menu = tray.until_row("Evermoor cannot start").await;
    let names = |label: &&str| label.starts_with(&format!("Port {port} is used by"));
    assert!(menu.labels().iter().any(names), "{menu}");

    tray.click("Use another port and update editors").await;
    tray.until_row("notes — Connected").await;
    let gateway = runtime(&scene.home());
    let config = std::fs::read_to_string(scene.home().join("config.toml")).unwrap();
    assert!(config.contains("# ours"), "comments stay: {config}");
    assert!(!gateway.origin.ends_with(&format!(":{port}")), "{}", gateway.origin);
    assert!(config.contains(gateway.origin.trim_start_matches("http://")), "{config}");
}

#[tokio::test]
async fn retrying_happens_at_once() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let scene = Scene::new();
    scene.configure(&format!("listen = \"127.0.0.1:{port}\""), &[]);
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    tray.until_row("Evermoor cannot start").await;
    drop(taken);
    tray.click("Try again").await;
    tray.until_row("Demo — Connected").await;
}
