//! Launch at login: the autostart entry is written, removed and read back.

use std::path::Path;

use evermoor_tests::Scene;
use evermoor_tests::desktop::{Desktop, DesktopProgram};
use evermoor_tests::scene::programs::built;
use evermoor_tests::scene::wait::until;

use super::{launch, launch_with};

const ROW: &str = "Launch at login";

fn entry(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("autostart/Evermoor.desktop")).unwrap_or_default()
}

fn launch_in(desktop: &Desktop, scene: &Scene, settings: &Path) -> DesktopProgram {
    launch_with(desktop, scene, &["--hidden"], &[("XDG_CONFIG_HOME", settings.to_owned())])
}

#[tokio::test]
async fn a_click_writes_the_entry_and_another_removes_it() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let desktop = Desktop::start().await;
    let _app = launch(&desktop, &scene);
    let tray = desktop.tray().await;
    let settings = desktop.home().join(".config");

    tray.until_ticked(ROW, false).await;
    tray.click(ROW).await;
    // The panel ticks the row by itself, so only the entry proves the change.
    let wanted = format!("Exec=\"{}\" --hidden\n", built("evermoor-tray").display());
    until("the entry is written", || entry(&settings).contains(&wanted)).await;
    tray.until_ticked(ROW, true).await;

    tray.click(ROW).await;
    until("the entry is gone", || entry(&settings).is_empty()).await;
    tray.until_ticked(ROW, false).await;
}

#[tokio::test]
async fn the_entry_is_in_the_persons_settings_folder_and_follows_a_moved_program() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let desktop = Desktop::start().await;
    let settings = scene.path("my settings");
    let moved = "[Desktop Entry]\nType=Application\nName=Evermoor\nExec=/gone/evermoor-tray\n";
    std::fs::create_dir_all(settings.join("autostart")).unwrap();
    std::fs::write(settings.join("autostart/Evermoor.desktop"), moved).unwrap();
    let _app = launch_in(&desktop, &scene, &settings);
    let tray = desktop.tray().await;
    tray.until_ticked(ROW, true).await;
    let program = built("evermoor-tray");
    until("the entry is renewed", || entry(&settings).contains(&*program.to_string_lossy())).await;
    assert_eq!(entry(&desktop.home().join(".config")), "", "none in the usual place");
}

#[tokio::test]
async fn an_entry_turned_off_by_the_desktop_counts_as_off() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let desktop = Desktop::start().await;
    let settings = scene.path("settings");
    let off = "[Desktop Entry]\nType=Application\nExec=evermoor-tray\nHidden=true\n";
    std::fs::create_dir_all(settings.join("autostart")).unwrap();
    std::fs::write(settings.join("autostart/Evermoor.desktop"), off).unwrap();
    let _app = launch_in(&desktop, &scene, &settings);
    desktop.tray().await.until_ticked(ROW, false).await;
    assert_eq!(entry(&settings), off, "what a person turned off stays so");
}
