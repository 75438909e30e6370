//! The menu follows the state, and its rows do what they say.

use evermoor_tests::Scene;
use evermoor_tests::desktop::Desktop;

use super::launch;

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
    tray.click("Pause notes").await;
    tray.until_row("notes is paused").await;
    tray.until_icon_differs(&healthy).await;
    tray.click("Resume").await;
    tray.until_row("notes — Connected").await;
}

#[tokio::test]
async fn an_upstream_is_turned_off_and_on_and_config_toml_says_so() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let _gateway = scene.gateway(&[&upstream]).await;
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    tray.click("Turn off notes").await;
    tray.until_row("notes — Off").await;
    let config = std::fs::read_to_string(scene.home().join("config.toml")).unwrap();
    assert!(config.contains("enabled = false"), "{config}");
    tray.click("Turn on notes").await;
    tray.until_row("notes — Connected").await;
}

#[tokio::test]
async fn no_row_appears_or_disappears_while_the_menu_is_open() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let _gateway = scene.gateway(&[&upstream]).await;
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    let before = tray.until_row("notes — Connected").await;
    let healthy = tray.icon().await;

    tray.open().await;
    upstream.kill().await;
    tray.until_icon_differs(&healthy).await;
    assert_eq!(tray.menu().await.labels(), before.labels(), "the icon tells, the menu waits");
    tray.close().await;
    tray.until_row("Restart notes").await;
    tray.until_row("notes — Not running").await;
}

#[tokio::test]
async fn a_click_on_restart_brings_an_upstream_back() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let _gateway = scene.gateway(&[&upstream]).await;
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    tray.until_row("notes — Connected").await;
    upstream.kill().await;
    tray.until_row("notes is not running").await;
    tray.click("Restart notes").await;
    upstream.start_again().await;
    let menu = tray.until_row("notes — Connected").await;
    assert!(menu.rows.iter().filter(|row| row.label != "---").count() <= 12, "{menu}");
}
