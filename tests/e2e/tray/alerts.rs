//! Notifications, as a notification daemon receives them. Each test waits for the five seconds that
//! an application has to recover.

use evermoor_tests::Scene;
use evermoor_tests::desktop::{Desktop, Tray};
use evermoor_tests::fakes::pieces::Pieces;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::scene::programs::built;
use evermoor_tests::scene::wait::until;
use serde_json::json;

use super::launch_with;

/// Waits until the tray shows that everything is connected.
async fn until_connected(tray: &Tray) {
    let connected = |text: &str| text.contains("connected") && !text.contains("Connecting");
    tray.until_menu("all is connected", |menu| connected(&menu.to_string())).await;
}

#[tokio::test]
async fn a_killed_application_is_reported_and_restarted_with_the_button_and_a_held_call_is_answered()
 {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    pieces.describe(&scene.home(), "");
    scene.write("", "[upstreams.pieces]\npreset = \"pieces-os\"\nrestart = \"ask\"\n");
    let gateway = Gateway::start(&scene.home()).await;
    gateway.until("pieces", |it| it.app.as_ref().is_some_and(|app| app.pid.is_some())).await;
    let mut editor = gateway.editor("/mcp/pieces").await;
    let desktop = Desktop::start().await;
    let notifications = desktop.notifications(true).await;
    let _app = launch_with(&desktop, &scene, &[], &[]);
    until_connected(&desktop.tray().await).await;

    pieces.kill().await;
    let arguments = json!({ "summary": "held" });
    let call = editor.call("create_pieces_memory", &arguments);
    let restarting = async {
        let shown = notifications.until("PiecesOS quit unexpectedly").await;
        assert_eq!(shown.body, "Your editors keep working without it. Restart it now?");
        assert_eq!(
            (shown.buttons.as_slice(), shown.quiet),
            (&["Restart", "Details"].map(String::from)[..], false)
        );
        notifications.press(&shown, "Restart").await;
        shown
    };
    let (answer, shown) = tokio::join!(call, restarting);
    assert_eq!(answer["content"][0]["text"], "held");
    assert_eq!((pieces.ledger.executions("held"), pieces.starts()), (1, 2));
    let back = notifications.until("PiecesOS is back").await;
    assert_eq!((back.number, back.replaced, back.quiet), (shown.number, true, true));
    assert_eq!(notifications.titles().len(), 2);
}

#[tokio::test]
async fn a_persons_own_actions_in_the_menu_cause_no_notification() {
    let scene = Scene::new();
    let mut notes = scene.upstream("notes").await;
    let mut other = scene.upstream("other").await;
    let gateway = scene.gateway(&[&notes, &other]).await;
    let desktop = Desktop::start().await;
    let notifications = desktop.notifications(true).await;
    let mut app = launch_with(&desktop, &scene, &[], &[]);
    let tray = desktop.tray().await;
    until_connected(&tray).await;

    notes.kill().await;
    tray.click("Restart notes").await;
    gateway.until_down("notes").await;
    other.kill().await;
    let shown = notifications.until("other is not running").await;
    assert_eq!(shown.buttons, ["Details"], "nobody can restart what somebody else runs");
    assert_eq!(notifications.titles(), ["other is not running"]);
    tray.click("Quit Evermoor").await;
    assert!(app.ended().await.success());
    notifications.until_closed(&shown).await;
}

#[tokio::test]
async fn without_support_for_buttons_a_click_opens_the_dashboard() {
    let scene = Scene::new();
    let mut notes = scene.upstream("notes").await;
    let _gateway = scene.gateway(&[&notes]).await;
    let desktop = Desktop::start().await;
    let notifications = desktop.notifications(false).await;
    let app = launch_with(&desktop, &scene, &[], &[]);
    until_connected(&desktop.tray().await).await;
    assert!(!app.has_window());

    notes.kill().await;
    let shown = notifications.until("notes is not running").await;
    assert!(shown.buttons.is_empty());
    notifications.click(&shown).await;
    app.until_window().await;
}

#[tokio::test]
async fn without_a_notification_daemon_nothing_breaks_and_the_next_daemon_is_used() {
    let scene = Scene::new();
    let mut notes = scene.upstream("notes").await;
    let mut other = scene.upstream("other").await;
    let mut third = scene.upstream("third").await;
    let _gateway = scene.gateway(&[&notes, &other, &third]).await;
    let desktop = Desktop::start().await;
    let log = scene.path("tray.log");
    let variables = [
        ("EVERMOOR_HOME", scene.home()),
        ("EVERMOOR_BIN", built("evermoor")),
        ("TRAY", built("evermoor-tray")),
        ("TRAY_LOG", log.clone()),
    ];
    let line = ["-c", "exec \"$TRAY\" 2>\"$TRAY_LOG\""];
    let mut app = desktop.launch(std::path::Path::new("/bin/sh"), line, variables);
    until_connected(&desktop.tray().await).await;
    let tries = || {
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        said.matches("cannot show a notification").count()
    };

    notes.kill().await;
    until("it is tried in vain", || tries() > 0).await;
    let first = desktop.notifications(true).await;
    other.kill().await;
    first.until("other is not running").await;
    assert_eq!(
        (first.titles().len(), tries()),
        (1, 1),
        "what could not be shown is not tried again"
    );

    // Another daemon replaces the first, as when a desktop shell restarts.
    drop(first);
    let second = desktop.notifications(true).await;
    third.kill().await;
    // Both went down at about the same time, so one notification covers both.
    second.until("2 servers are down").await;
    assert_eq!((second.titles().len(), tries()), (1, 1));
    assert!(app.is_running());
}
