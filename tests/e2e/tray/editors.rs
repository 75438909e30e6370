//! Editors that are connected from the menu, and updated when the gateway moves.

use std::net::TcpListener;
use std::path::PathBuf;

use evermoor_tests::Scene;
use evermoor_tests::desktop::{Desktop, DesktopProgram, Tray};
use evermoor_tests::gateway::runtime;
use evermoor_tests::peers::free_port;
use evermoor_tests::scene::wait::until;

use super::launch;

/// A user with Cursor, on a desktop whose tray starts the gateway.
struct Person {
    desktop: Desktop,
    file: PathBuf,
}

impl Person {
    async fn new() -> Self {
        let desktop = Desktop::start().await;
        let file = desktop.home().join(".cursor/mcp.json");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "{\n  \"mcpServers\": {}\n}\n").unwrap();
        Self { desktop, file }
    }

    async fn launch(&self, scene: &Scene) -> (DesktopProgram, Tray) {
        (launch(&self.desktop, scene), self.desktop.tray().await)
    }

    async fn until_file_has(&self, text: &str) {
        let has = || std::fs::read_to_string(&self.file).is_ok_and(|now| now.contains(text));
        until(text, has).await;
    }
}

#[tokio::test]
async fn a_click_connects_an_editor_and_ticks_it() {
    let scene = Scene::new();
    scene.configure("", &[]);
    let person = Person::new().await;
    let (_app, tray) = person.launch(&scene).await;
    tray.until_row("Demo — Connected").await;
    let gateway = runtime(&scene.home());
    tray.until_ticked("Cursor", false).await;
    tray.click("Cursor").await;
    person.until_file_has(&format!("{}/mcp", gateway.origin)).await;
    tray.until_ticked("Cursor", true).await;
}

#[tokio::test]
async fn editors_follow_the_gateway_to_another_port() {
    let scene = Scene::new();
    let port = free_port();
    scene.configure(&format!("listen = \"127.0.0.1:{port}\""), &[]);
    let person = Person::new().await;
    let (mut app, tray) = person.launch(&scene).await;
    tray.until_row("Demo — Connected").await;
    let before = runtime(&scene.home());
    tray.until_ticked("Cursor", false).await;
    tray.click("Cursor").await;
    person.until_file_has(&format!("127.0.0.1:{port}/mcp")).await;
    tray.click("Quit Evermoor").await;
    assert!(app.ended().await.success());
    evermoor_platform::process::spawn::kill(before.pid).unwrap();
    until("the port is free", || TcpListener::bind(("127.0.0.1", port)).is_ok()).await;
    let _taken = TcpListener::bind(("127.0.0.1", port)).unwrap();

    let (_app, tray) = person.launch(&scene).await;
    tray.until_row("Evermoor cannot start").await;
    tray.click("Use another port and update editors").await;
    tray.until_row("Demo — Connected").await;
    let now = runtime(&scene.home());
    person.until_file_has(&format!("{}/mcp", now.origin)).await;
    let file = std::fs::read_to_string(&person.file).unwrap();
    assert!(!file.contains(&format!(":{port}/")), "{file}");
}
