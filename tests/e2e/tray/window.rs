//! When the window opens, and when it does not.

use evermoor_tests::Scene;
use evermoor_tests::desktop::Desktop;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::scene::programs::built;
use evermoor_tests::scene::wait::until;

use super::{launch, launch_with};

#[tokio::test]
async fn a_second_launch_ends_at_once_and_opens_the_window_of_the_first() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let desktop = Desktop::start().await;
    let mut first = launch(&desktop, &scene);
    desktop.tray().await.until_row("Demo — Connected").await;
    assert!(!first.has_window(), "a login opens no window");
    let mut at_login = launch(&desktop, &scene);
    assert!(at_login.ended().await.success());
    assert!(!first.has_window(), "nor does another one");
    let mut second = launch_with(&desktop, &scene, &[], &[]);
    assert!(second.ended().await.success());
    first.until_window().await;
    assert!(first.is_running());
}

#[tokio::test]
async fn a_desktop_without_a_tray_gets_the_window_and_one_hint() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let desktop = Desktop::without_tray().await;
    let app = launch_with(&desktop, &scene, &[], &[]);
    app.until_window().await;
    let marker = scene.home().join("data/no-tray-told");
    until("somebody is told", || marker.exists()).await;
}

#[tokio::test]
async fn the_first_start_ever_opens_the_window_and_later_ones_do_not() {
    let scene = Scene::new();
    let _old = scene.gateway(&[]).await;
    // There is no configuration any more, and the port stays a free one.
    std::fs::remove_file(scene.home().join("config.toml")).unwrap();
    let gateway = Gateway::take_over(&scene.home()).await;
    assert!(gateway.status().await.first_run);
    let desktop = Desktop::start().await;
    let mut app = launch_with(&desktop, &scene, &[], &[]);
    app.until_window().await;
    gateway.control(http::Method::POST, "/api/welcome").await;
    desktop.tray().await.click("Quit Evermoor").await;
    assert!(app.ended().await.success());

    let app = launch_with(&desktop, &scene, &[], &[]);
    let tray = desktop.tray().await;
    tray.until_row("Demo — Connected").await;
    // The tray decides whether to open the window when it gets the state, before a click completes.
    tray.until_ticked("Launch at login", false).await;
    tray.click("Launch at login").await;
    tray.until_ticked("Launch at login", true).await;
    assert!(!app.has_window());
}

#[tokio::test]
async fn a_page_requested_while_the_window_loads_is_shown() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let desktop = Desktop::start().await;
    let variables = [("EVERMOOR_HOME", scene.home()), ("EVERMOOR_BIN", built("evermoor"))];
    let program = built("evermoor-tray");
    let driving = desktop.drive(&program, &["--window"], &variables);
    let clicking = async { desktop.tray().await.click("Settings…").await };
    let (window, ()) = tokio::join!(driving, clicking);
    window.until("return location.hash === '#/settings'").await;
}
