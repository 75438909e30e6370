//! The real window: what the dashboard in it may and may not do.

use evermoor_tests::Scene;
use evermoor_tests::desktop::{Desktop, Driver};
use evermoor_tests::scene::programs::built;
use serde_json::json;

async fn window(desktop: &Desktop, scene: &Scene) -> Driver {
    let variables = [("EVERMOOR_HOME", scene.home()), ("EVERMOOR_BIN", built("evermoor"))];
    let driver = desktop.drive(&built("evermoor-tray"), &["--window"], &variables).await;
    driver.until("return document.body.innerText.includes('notes')").await;
    driver
}

fn invoke(command: &str, arguments: &serde_json::Value) -> String {
    format!("return await window.__TAURI_INTERNALS__.invoke('{command}', {arguments})")
}

#[tokio::test]
async fn the_window_asks_the_gateway_through_the_shell_and_reaches_nothing_else() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let desktop = Desktop::start().await;
    let window = window(&desktop, &scene).await;
    let control = |path: &str| invoke("control", &json!({ "method": "GET", "path": path }));

    let status = window.answer(&control("/api/status")).await;
    assert_eq!(status["status"], 200);
    assert_eq!(status["body"]["upstreams"][0]["name"], "notes");
    assert_eq!(window.answer(&control("/api/nothing")).await["status"], 404);
    for path in ["/mcp", "/api/../mcp", "//example.com/api/status"] {
        let refused = window.answer(&control(path)).await;
        assert_eq!(refused["refused"], format!("The dashboard may not use {path}."));
    }
    let login = window.answer(&invoke("login_item", &json!({}))).await;
    assert_eq!(login, json!({ "enabled": false }));
    let update = window.answer(&invoke("update_state", &json!({}))).await;
    assert_eq!(update["kind"], "off");

    for (command, arguments) in [
        ("open_link", json!({ "url": "file:///etc/passwd" })),
        ("open_folder", json!({ "what": "/etc" })),
        ("plugin:opener|open_path", json!({ "path": "/etc" })),
        ("plugin:autostart|enable", json!({})),
        ("plugin:updater|check", json!({})),
        ("plugin:clipboard-manager|read_text", json!({})),
        ("plugin:webview|create_webview_window", json!({ "options": {} })),
    ] {
        let answer = window.answer(&invoke(command, &arguments)).await;
        assert!(answer["refused"].is_string(), "{command}: {answer}");
    }
    let fetch = format!("return (await fetch('{}/healthz')).status", gateway.origin);
    assert!(window.answer(&fetch).await["refused"].is_string(), "no connection but to the shell");
    window.answer("location.href = 'https://example.com/'; return 1").await;
    window.answer("return window.open('https://example.com/') === null").await;
    let page = window.answer("return location.protocol + '//' + location.host").await;
    assert_eq!(page, "tauri://localhost", "the window stays where it is");
}
