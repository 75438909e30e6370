//! The tray's log, on disk and in `evermoor logs --tray`.

use evermoor_tests::Scene;
use evermoor_tests::desktop::Desktop;
use evermoor_tests::scene::programs::evermoor;
use evermoor_tests::scene::wait::until;

use super::launch;

#[tokio::test]
async fn the_trays_log_is_kept_and_can_be_read() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let file = scene.home().join("logs/tray.log");
    let written = || std::fs::read_to_string(&file).unwrap_or_default();
    until("the tray says that it starts", || written().contains("starting the tray")).await;
    let said = evermoor(&scene.home()).args(["logs", "--tray"]).output().await.unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("info") && said.contains("starting the tray"), "{said}");
}
