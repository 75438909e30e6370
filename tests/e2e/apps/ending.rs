//! What the gateway does when an application exits.

use evermoor_core::api::UpstreamState;
use evermoor_core::failure::Code;
use evermoor_tests::Scene;
use evermoor_tests::fakes::pieces::Fault;

use super::{connected, editor, ended, entry, incidents, remember, until_app};

#[tokio::test]
async fn a_crash_is_recognized_restarted_and_recorded() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    until_app(&gateway, |app| app.memory.is_some()).await;
    let (old, mut editor) = (pieces.newest(), editor(&gateway).await);
    old.tell_last(Fault::Abort).await;
    assert_eq!(remember(&mut editor, "after").await, "after", "the call waits for it");
    let restart = ended(&gateway, 1).await;
    assert_eq!(restart.end.unwrap().failure, None);
    let app = until_app(&gateway, |app| app.pid == Some(pieces.pid())).await;
    assert_ne!(app.pid, Some(old.pid));
    assert_eq!(pieces.ledger.executions("after"), 1);
    let outages = incidents(&gateway).await;
    let [outage] = outages.as_slice() else { panic!("one outage: {outages:?}") };
    assert_eq!(outage.why(), "PiecesOS crashed (SIGABRT).");
    assert!(outage.memory.is_some() && outage.uptime.is_some(), "{outage:?}");
    assert_eq!((outage.calls.held, outage.calls.answered), (1, 1));
    let events: Vec<&str> = outage.events.iter().map(|event| event.what.as_str()).collect();
    assert!(events.iter().any(|what| what.contains("Starting PiecesOS")), "{events:?}");
    assert!(outage.end.is_some());
}

#[tokio::test]
async fn after_a_normal_quit_a_restart_is_offered_but_not_done() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    pieces.newest().tell_last(Fault::Quit).await;
    let app = until_app(&gateway, |app| app.offer.is_some()).await;
    assert_eq!(app.offer.as_deref(), Some("You can start PiecesOS again with one click."));
    let seen = gateway
        .until("pieces", |upstream| {
            matches!(&upstream.link, UpstreamState::Down { failure, .. } if failure.code == Code::Quit)
        })
        .await;
    assert_eq!(seen.app.unwrap().restart, None);
    assert_eq!(pieces.starts(), 1);
    assert_eq!(incidents(&gateway).await[0].why(), "PiecesOS was quit.");
}

#[tokio::test]
async fn with_always_a_quit_is_undone_and_with_never_nothing_is_offered() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "restart = \"always\"\n").await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    pieces.newest().tell_last(Fault::Quit).await;
    pieces.instance(2).await;
    ended(&gateway, 1).await;
    drop((pieces, gateway));
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "restart = \"never\"\n").await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    pieces.newest().tell_last(Fault::Abort).await;
    let app = until_app(&gateway, |app| app.word == "Crashed").await;
    assert_eq!((app.offer, app.restart, pieces.starts()), (None, None, 1));
}

#[tokio::test]
async fn after_three_restarts_in_ten_minutes_only_a_person_restarts_it() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    for life in 1..=4 {
        let pid = pieces.instance(life).await.pid;
        until_app(&gateway, |app| app.pid == Some(pid)).await;
        pieces.newest().tell_last(Fault::Abort).await;
    }
    let app = until_app(&gateway, |app| app.offer.is_some()).await;
    assert!(app.offer.unwrap().contains("stopped restarting it after 3 attempts"));
    assert_eq!(pieces.starts(), 4);
    let restart = super::restart(&gateway).await;
    assert_eq!(restart.end.unwrap().failure, None);
    assert_eq!(pieces.starts(), 5);
}

#[tokio::test]
async fn restarts_count_across_gateways() {
    // The second gateway did not start the application, so it may not learn how it exited.
    const ALWAYS: &str = "restart = \"always\"\n";
    let scene = Scene::new();
    let (pieces, mut gateway) = connected(&scene, ALWAYS).await;
    for life in 1..=3 {
        let pid = pieces.instance(life).await.pid;
        until_app(&gateway, |app| app.pid == Some(pid)).await;
        pieces.newest().tell_last(Fault::Abort).await;
    }
    let pid = pieces.instance(4).await.pid;
    ended(&gateway, 3).await;
    gateway.process.kill().await;
    gateway = scene.gateway_of("", &entry(ALWAYS)).await;
    until_app(&gateway, |app| app.pid == Some(pid)).await;
    pieces.newest().tell_last(Fault::Abort).await;
    let app = until_app(&gateway, |app| app.offer.is_some()).await;
    assert!(app.offer.unwrap().contains("stopped restarting it after 3 attempts"));
    assert_eq!(pieces.starts(), 4);
}
