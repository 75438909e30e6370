//! Restarting an application in each way it supports, and verifying the result.

use evermoor_core::api::Link;
use evermoor_tests::Scene;
use evermoor_tests::fakes::pieces::{Area, Fault, OnRestart, Pieces};
use http::Method;

use super::{connected, editor, ended, gateway, remember, restart, steps, until_app};

#[tokio::test]
async fn its_own_way_comes_first_and_is_proven_by_another_process() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let old = until_app(&gateway, |app| app.pid.is_some()).await;
    let restart = restart(&gateway).await;
    assert_eq!(restart.end.as_ref().unwrap().failure, None, "{:?}", steps(&restart));
    assert_eq!(pieces.ledger.executions("GET /os/restart"), 1);
    let said = steps(&restart);
    assert_eq!(said[0], "A person asked for PiecesOS to be restarted.");
    assert_eq!(said[1], "Asking PiecesOS to restart itself.");
    assert!(said.last().unwrap().starts_with("PiecesOS is back, after "), "{said:?}");
    let new = until_app(&gateway, |app| app.pid.is_some() && app.pid != old.pid).await;
    assert_eq!(new.pid, Some(pieces.pid()));
}

#[tokio::test]
async fn one_that_does_not_run_is_launched() {
    let scene = Scene::new();
    let pieces = Pieces::install(&scene).await;
    let gateway = gateway(&scene, &pieces, "").await;
    gateway.until_down("pieces").await;
    let restart = restart(&gateway).await;
    assert_eq!(restart.end.as_ref().unwrap().failure, None, "{:?}", steps(&restart));
    assert_eq!(pieces.lives(), 1);
    gateway.until_connected("pieces").await;
}

#[tokio::test]
async fn the_old_process_that_still_answers_is_no_proof() {
    for on_restart in [OnRestart::Lingers { millis: 700 }, OnRestart::Overlaps] {
        let scene = Scene::new();
        let (pieces, gateway) = connected(&scene, "").await;
        let old = until_app(&gateway, |app| app.pid.is_some()).await;
        pieces.alter(|settings| settings.on_restart = on_restart);
        let restart = restart(&gateway).await;
        assert_eq!(restart.end.as_ref().unwrap().failure, None, "{:?}", steps(&restart));
        let new = until_app(&gateway, |app| app.pid.is_some() && app.pid != old.pid).await;
        assert_eq!(new.pid, Some(pieces.life(2).await.pid));
        let mut editor = editor(&gateway).await;
        assert_eq!(remember(&mut editor, "a").await, "a");
    }
}

#[tokio::test]
async fn one_that_refuses_is_asked_to_quit_and_launched() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    pieces.alter(|settings| settings.on_restart = OnRestart::Refuses { status: 500 });
    let restart = restart(&gateway).await;
    assert_eq!(restart.end.as_ref().unwrap().failure, None, "{:?}", steps(&restart));
    assert_eq!(
        (pieces.ledger.executions("POST /os/terminate"), pieces.lives()),
        (1, 2),
        "{:?}",
        steps(&restart)
    );
}

#[cfg(unix)]
#[tokio::test]
async fn one_that_answers_nothing_is_ended_and_launched() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    let old = pieces.newest();
    pieces.tell(Fault::Hang(Area::Health)).await;
    pieces.tell(Fault::Hang(Area::Mcp)).await;
    let restart = restart(&gateway).await;
    assert_eq!(restart.end.as_ref().unwrap().failure, None, "{:?}", steps(&restart));
    assert!(steps(&restart).contains(&"Ending PiecesOS."), "{:?}", steps(&restart));
    assert!(old.has_ended() && pieces.lives() == 2);
}

#[tokio::test]
async fn calls_under_way_end_first_and_calls_that_come_wait() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    pieces.tell(Fault::Slow { area: Area::Calls, millis: 1500 }).await;
    let (mut one, mut other) = (editor(&gateway).await, editor(&gateway).await);
    let under_way = async { remember(&mut one, "under way").await };
    let asking = async {
        pieces.ledger.until_executed("under way").await;
        let begun = gateway.control(Method::POST, "/api/upstreams/pieces/restart").await;
        gateway.until("pieces", |upstream| matches!(upstream.link, Link::Down { .. })).await;
        let held = remember(&mut other, "held").await;
        (held, ended(&gateway, begun["number"].as_u64().unwrap()).await)
    };
    let (said, (held, restart)) = tokio::join!(under_way, asking);
    assert_eq!((said.as_str(), held.as_str()), ("under way", "held"));
    assert!(steps(&restart).contains(&"Waiting for a call to end."), "{:?}", steps(&restart));
    for words in ["under way", "held"] {
        assert_eq!(pieces.ledger.executions(words), 1);
    }
}

#[tokio::test]
async fn whoever_asks_during_a_restart_means_that_one() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let ask = || gateway.control(Method::POST, "/api/upstreams/pieces/restart");
    let (one, other) = tokio::join!(ask(), ask());
    assert_eq!(one["number"], other["number"]);
    ended(&gateway, 1).await;
    assert_eq!(pieces.ledger.executions("GET /os/restart"), 1);
}

#[tokio::test]
async fn a_failure_says_at_which_step_and_what_to_do() {
    let scene = Scene::new();
    let pieces = Pieces::install(&scene).await;
    let gateway = gateway(&scene, &pieces, "").await;
    gateway.until_down("pieces").await;
    pieces.uninstall();
    let restart = restart(&gateway).await;
    let failure = restart.end.as_ref().unwrap().failure.clone().expect("it failed");
    assert!(failure.what.contains("launch"), "{failure}");
    assert!(failure.remedy.contains("Start PiecesOS yourself"), "{failure}");
}
