//! Updates: signed with our key or refused, and never installed during a call.

use std::path::{Path, PathBuf};

use axum::Router;
use axum::routing::get;
use evermoor_tests::Scene;
use evermoor_tests::desktop::{Desktop, DesktopProgram, Tray};
use evermoor_tests::fakes::upstream::script::Act;
use evermoor_tests::scene::wait::{until, until_some};
use serde_json::json;

use super::launch_with;

const VERSION: &str = "99.0.0";

/// A key pair, made and used with the tool that signs real releases.
struct Signer {
    key: PathBuf,
}

impl Signer {
    async fn new(scene: &Scene) -> Self {
        let key = scene.path("update.key");
        let place = key.display().to_string();
        sign(&["generate", "--ci", "--password", "", "--write-keys", &place]).await;
        Self { key }
    }

    fn public(&self) -> String {
        std::fs::read_to_string(self.key.with_extension("key.pub")).unwrap().trim().to_owned()
    }

    async fn signature(&self, file: &Path) -> String {
        let (key, file) = (self.key.display().to_string(), file.display().to_string());
        let version = ["--app-version", VERSION];
        let how = ["sign", "--private-key-path", &key, "--password", ""];
        sign(&[&how[..], &version, &[&file]].concat()).await;
        std::fs::read_to_string(format!("{file}.sig")).unwrap().trim().to_owned()
    }
}

async fn sign(arguments: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let tool = root.join("node_modules/@tauri-apps/cli/tauri.js");
    let mut command = evermoor_tests::scene::programs::command("node");
    let done = command.arg(tool).arg("signer").args(arguments).output().await.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// A server with one update and its signature.
async fn server(package: &Path, signature: String) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let url = format!("{origin}/package");
    let latest = json!({ "version": VERSION, "url": url, "signature": signature }).to_string();
    let package = std::fs::read(package).unwrap();
    let files = Router::new()
        .route("/latest.json", get(|| async move { latest }))
        .route("/package", get(|| async move { package }));
    #[expect(clippy::disallowed_methods, reason = "ends with the runtime of the test")]
    drop(tokio::spawn(async move { axum::serve(listener, files).await }));
    format!("{origin}/latest.json")
}

/// The installed program as an AppImage, which the update replaces.
fn image(scene: &Scene) -> PathBuf {
    let image = scene.path("Evermoor.AppImage");
    std::fs::write(&image, "the old program").unwrap();
    image
}

async fn launch(
    scene: &Scene,
    desktop: &Desktop,
    key: String,
    url: String,
) -> (DesktopProgram, Tray) {
    let image = image(scene);
    let variables = [
        ("APPIMAGE", image),
        ("EVERMOOR_UPDATE_KEY", key.into()),
        ("EVERMOOR_UPDATE_URL", url.into()),
    ];
    let app = launch_with(desktop, scene, &["--hidden"], &variables);
    (app, desktop.tray().await)
}

fn row() -> String {
    format!("Restart to update to {VERSION}")
}

#[tokio::test]
async fn a_signed_update_is_installed_once_no_call_is_running() {
    let scene = Scene::new();
    let package = Path::new("/bin/true");
    let copy = scene.path("package");
    std::fs::copy(package, &copy).unwrap();
    let signer = Signer::new(&scene).await;
    let url = server(&copy, signer.signature(&copy).await).await;
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let desktop = Desktop::start().await;
    let (mut app, tray) = launch(&scene, &desktop, signer.public(), url).await;
    tray.until_row(&row()).await;

    upstream.always("tools/call", Act::Hang).await;
    let long = json!({ "nonce": "long" });
    let mut call = Box::pin(editor.call("record", &long));
    let under_way = async {
        until_some("the call under way", async || {
            let calls = gateway.control(http::Method::GET, "/api/calls").await;
            (calls["underWay"] == 1).then_some(())
        })
        .await;
        tray.click(&row()).await;
        tray.until_row(&format!("Updating to {VERSION} once running calls finish")).await;
    };
    tokio::select! {
        () = under_way => {}
        answer = &mut call => panic!("the call was answered: {answer}"),
    }
    let image = scene.path("Evermoor.AppImage");
    assert_eq!(std::fs::read(&image).unwrap(), b"the old program", "not in the middle of a call");
    upstream.kill().await;
    call.await;
    let new = std::fs::read(&copy).unwrap();
    until("the update is installed", || std::fs::read(&image).is_ok_and(|now| now == new)).await;
    // It restarts as the program from the update.
    assert!(app.ended().await.success());
}

#[tokio::test]
async fn an_update_signed_by_somebody_else_is_refused() {
    let scene = Scene::new();
    let copy = scene.path("package");
    std::fs::copy("/bin/true", &copy).unwrap();
    let theirs = Signer::new(&scene).await;
    let signature = theirs.signature(&copy).await;
    let other = Scene::new();
    let ours = Signer::new(&other).await;
    let url = server(&copy, signature).await;
    let _gateway = scene.gateway(&[]).await;
    let desktop = Desktop::start().await;
    let (mut app, tray) = launch(&scene, &desktop, ours.public(), url).await;
    tray.click(&row()).await;
    tray.until_row(&format!("Retry the update to {VERSION}")).await;
    assert_eq!(std::fs::read(scene.path("Evermoor.AppImage")).unwrap(), b"the old program");
    assert!(app.is_running());
}
