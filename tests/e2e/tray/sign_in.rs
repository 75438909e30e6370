//! A sign-in that begins in the menu and continues in the browser.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use evermoor_tests::Scene;
use evermoor_tests::desktop::Desktop;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::peers::authorization::{Protected, visit};
use evermoor_tests::scene::wait::until;
use serde_json::json;

use super::launch_with;

/// A stand-in for the browser, which remembers the page that it is asked to open.
struct Browser {
    /// The folders with programs, of which the first has the stand-in.
    path: PathBuf,
    page: PathBuf,
}

impl Browser {
    fn of(scene: &Scene) -> Self {
        let (folder, page) = (scene.path("programs"), scene.path("page"));
        std::fs::create_dir(&folder).unwrap();
        let program = folder.join("xdg-open");
        std::fs::write(&program, format!("#!/bin/sh\necho \"$1\" >> {}\n", page.display()))
            .unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let folders = std::env::var("PATH").unwrap();
        Self { path: format!("{}:{folders}", folder.display()).into(), page }
    }

    /// The page that it was asked to open.
    async fn opened(&self) -> String {
        let shown = || std::fs::read_to_string(&self.page).unwrap_or_default();
        until("a page is opened", || shown().ends_with('\n')).await;
        shown().trim().to_owned()
    }
}

/// A gateway in front of a server that wants a sign-in.
async fn signed_out(scene: &Scene) -> (Protected, Gateway) {
    let server = Protected::start(&json!({})).await;
    let settings = format!("sign_ins_file = {:?}", scene.path("sign-ins.json"));
    let gateway = scene.gateway_of(&settings, &server.entry("linear")).await;
    (server, gateway)
}

#[tokio::test]
async fn a_click_on_sign_in_opens_the_page_of_the_server_in_the_browser() {
    let scene = Scene::new();
    let (_server, gateway) = signed_out(&scene).await;
    let (desktop, browser) = (Desktop::start().await, Browser::of(&scene));
    let _app = launch_with(&desktop, &scene, &["--hidden"], &[("PATH", browser.path.clone())]);
    let tray = desktop.tray().await;
    tray.until_row("linear — Needs sign-in").await;
    tray.until_row("linear wants you to sign in").await;
    tray.until_no_row("Restart linear").await;
    tray.click("Sign in to linear…").await;
    let page = visit(&browser.opened().await).await;
    assert_eq!(page.status, 200, "{page:?}");
    gateway.until_connected("linear").await;
    tray.until_row("linear — Connected").await;
    tray.until_no_row("Sign in to linear…").await;
}
