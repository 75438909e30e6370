//! When there is a window, and when there is none.

use evermoor_tests::Scene;
use evermoor_tests::desktop::Desktop;
use evermoor_tests::looking::until;

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
async fn a_desktop_without_a_tray_gets_the_window_and_is_told_once() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let desktop = Desktop::without_tray().await;
    let app = launch_with(&desktop, &scene, &[], &[]);
    app.until_window().await;
    let told = scene.home().join("data/no-tray-told");
    until("somebody is told", || told.exists()).await;
}
