//! Shims and commands of one version that find a gateway of another.

use evermoor_client::launch::Launcher;
use evermoor_client::{GatewaySupervisor, Presence};
use evermoor_core::api::UpstreamState;
use evermoor_platform::paths::Paths;
use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::fakes::program::Program;
use evermoor_tests::gateway::{Gateway, next_gateway, pretend, runtime};
use evermoor_tests::scene::programs::evermoor;
use futures_util::future::join_all;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

#[tokio::test]
async fn a_newer_shim_replaces_an_older_gateway() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let mut old = scene.gateway(&[&upstream]).await;
    let mut before = old.editor("/mcp/notes").await;
    pretend(&scene.home(), "0.0.1");
    let mut editor = Editor::over_shim(&scene.home(), Some("notes")).await;
    let new = next_gateway(&scene.home(), old.process.pid()).await;
    assert!(old.process.ended().await.success());
    assert_eq!(new.version, env!("CARGO_PKG_VERSION"));
    editor.call("record", &json!({ "nonce": "over the shim" })).await;
    before.call("record", &json!({ "nonce": "over HTTP" })).await;
    let _another = Editor::over_shim(&scene.home(), None).await;
    assert_eq!(runtime(&scene.home()), new, "nobody takes over from its like");
}

#[tokio::test]
async fn many_newer_shims_replace_an_older_gateway_once() {
    let scene = Scene::new();
    let program = Program::new("notes", scene.path("notes.ledger"), &[]);
    let mut old = scene.gateway_of("", &program.entry()).await;
    old.until_connected("notes").await;
    pretend(&scene.home(), "0.0.1");
    let home = scene.home();
    let mut editors = join_all((0..5).map(|_| Editor::over_shim(&home, Some("notes")))).await;
    let new = next_gateway(&home, old.process.pid()).await;
    assert!(old.process.ended().await.success());
    for (number, editor) in editors.iter_mut().enumerate() {
        let nonce = format!("{number}");
        editor.call("record", &json!({ "nonce": nonce })).await;
        assert_eq!(program.ledger.executions(&nonce), 1);
    }
    assert_eq!(runtime(&home), new);
    assert_eq!(program.starts(), 2, "nobody else tried its upstreams");
}

#[tokio::test]
async fn an_older_shim_leaves_a_newer_gateway_alone() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    pretend(&scene.home(), "999.0.0");
    let mut editor = Editor::over_shim(&scene.home(), Some("notes")).await;
    editor.call("record", &json!({ "nonce": "a" })).await;
    assert_eq!(runtime(&scene.home()).pid, gateway.process.pid());
    assert!(gateway.process.is_running());
}

#[tokio::test]
async fn a_plain_start_beside_an_older_gateway_says_how_to_replace_it() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    pretend(&scene.home(), "0.0.1");
    let second = evermoor(&scene.home()).arg("serve").output().await.unwrap();
    assert_eq!(second.status.code(), Some(0));
    let wanted = format!("Evermoor is already running at {}/mcp.\n", gateway.origin);
    assert_eq!(String::from_utf8_lossy(&second.stdout), wanted);
    let hint = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(hint.contains("`evermoor serve --takeover`"), "{hint}");
}

#[tokio::test]
async fn the_client_follows_a_takeover_without_reporting_a_loss() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    let paths = Paths::find(Some(scene.home())).unwrap();
    let launcher = Launcher::new(scene.evermoor(), Some(scene.home()), paths);
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let keeper = GatewaySupervisor::start(launcher, &tasks, stop.clone());
    let mut presence = keeper.presence();
    let mut until = async |connected: bool| loop {
        match presence.borrow_and_update().clone() {
            Presence::Lost { failure } => panic!("nothing is lost: {failure}"),
            Presence::Stopped => panic!("nobody stopped it"),
            Presence::Serving { status } => {
                let link = status.upstreams.first().map(|upstream| &upstream.link);
                if link.is_some_and(|link| {
                    matches!(link, UpstreamState::Connected { .. }) == connected
                }) {
                    break;
                }
            }
            Presence::Starting => {}
        }
        presence.changed().await.unwrap();
    };
    until(true).await;
    for _ in 0..2 {
        let next = Gateway::take_over(&scene.home()).await;
        assert!(gateway.process.ended().await.success());
        gateway = next;
    }
    upstream.kill().await;
    until(false).await;
    upstream.start_again().await;
    until(true).await;
    stop.cancel();
    assert!(gateway.process.is_running(), "and it is the one that took over last");
}
