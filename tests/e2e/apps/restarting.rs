//! Restarting an application in each way it supports, and verifying the result.

use evermoor_core::api::UpstreamState;
use evermoor_tests::Scene;
use evermoor_tests::fakes::pieces::{Area, Fault, OnRestart, Pieces};
use http::Method;

use super::{connected, editor, ended, gateway, remember, restart, steps, until_app};

#[tokio::test]
async fn the_applications_own_restart_comes_first_and_is_verified_by_a_new_process() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let old = until_app(&gateway, |app| app.pid.is_some()).await;
    let restart = restart(&gateway).await;
    assert_eq!(restart.end.as_ref().unwrap().failure, None, "{:?}", steps(&restart));
    assert_eq!(pieces.ledger.executions("GET /os/restart"), 1);
    let said = steps(&restart);
    assert_eq!(said[0], "A restart of PiecesOS was requested.");
    assert_eq!(said[1], "Asking PiecesOS to restart itself.");
    assert!(said.last().unwrap().starts_with("PiecesOS is back after "), "{said:?}");
    let new = until_app(&gateway, |app| app.pid.is_some() && app.pid != old.pid).await;
    assert_eq!(new.pid, Some(pieces.pid()));
}

#[tokio::test]
async fn a_stopped_application_is_launched() {
    let scene = Scene::new();
    let pieces = Pieces::install(&scene).await;
    let gateway = gateway(&scene, &pieces, "").await;
    gateway.until_down("pieces").await;
    let restart = restart(&gateway).await;
    assert_eq!(restart.end.as_ref().unwrap().failure, None, "{:?}", steps(&restart));
    assert_eq!(pieces.starts(), 1);
    gateway.until_connected("pieces").await;
}

#[tokio::test]
async fn an_answer_from_the_old_process_does_not_verify_a_restart() {
    for on_restart in [OnRestart::Lingers { millis: 700 }, OnRestart::Overlaps] {
        let scene = Scene::new();
        let (pieces, gateway) = connected(&scene, "").await;
        let old = until_app(&gateway, |app| app.pid.is_some()).await;
        pieces.alter(|settings| settings.on_restart = on_restart);
        let restart = restart(&gateway).await;
        assert_eq!(restart.end.as_ref().unwrap().failure, None, "{:?}", steps(&restart));
        let new = until_app(&gateway, |app| app.pid.is_some() && app.pid != old.pid).await;
        assert_eq!(new.pid, Some(pieces.instance(2).await.pid));
        let mut editor = editor(&gateway).await;
        assert_eq!(remember(&mut editor, "a").await, "a");
    }
}

#[tokio::test]
async fn an_application_that_refuses_is_asked_to_quit_and_launched() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    pieces.alter(|settings| settings.on_restart = OnRestart::Refuses { status: 500 });
    let restart = restart(&gateway).await;
    assert_eq!(restart.end.as_ref().unwrap().failure, None, "{:?}", steps(&restart));
    assert_eq!(
        (pieces.ledger.executions("POST /os/terminate"), pieces.starts()),
        (1, 2),
        "{:?}",
        steps(&restart)
    );
}

#[tokio::test]
async fn an_application_that_does_not_answer_is_killed_and_launched() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    let old = pieces.newest();
    pieces.tell(Fault::Hang(Area::Health)).await;
    pieces.tell(Fault::Hang(Area::Mcp)).await;
    let restart = restart(&gateway).await;
    assert_eq!(restart.end.as_ref().unwrap().failure, None, "{:?}", steps(&restart));
    assert!(steps(&restart).contains(&"Stopping PiecesOS."), "{:?}", steps(&restart));
    assert!(old.has_ended() && pieces.starts() == 2);
}

#[tokio::test]
async fn running_calls_finish_first_and_new_calls_are_held() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    pieces.tell(Fault::Slow { area: Area::Calls, millis: 1500 }).await;
    let (mut one, mut other) = (editor(&gateway).await, editor(&gateway).await);
    let under_way = async { remember(&mut one, "under way").await };
    let asking = async {
        pieces.ledger.until_executed("under way").await;
        let begun = gateway.control(Method::POST, "/api/upstreams/pieces/restart").await;
        gateway
            .until("pieces", |upstream| matches!(upstream.link, UpstreamState::Down { .. }))
            .await;
        let held = remember(&mut other, "held").await;
        (held, ended(&gateway, begun["number"].as_u64().unwrap()).await)
    };
    let (said, (held, restart)) = tokio::join!(under_way, asking);
    assert_eq!((said.as_str(), held.as_str()), ("under way", "held"));
    assert!(steps(&restart).contains(&"Waiting for 1 call to finish."), "{:?}", steps(&restart));
    for words in ["under way", "held"] {
        assert_eq!(pieces.ledger.executions(words), 1);
    }
}

#[tokio::test]
async fn a_second_request_joins_the_running_restart() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let ask = || gateway.control(Method::POST, "/api/upstreams/pieces/restart");
    let (one, other) = tokio::join!(ask(), ask());
    assert_eq!(one["number"], other["number"]);
    ended(&gateway, 1).await;
    assert_eq!(pieces.ledger.executions("GET /os/restart"), 1);
}

#[tokio::test]
async fn a_failure_names_the_step_and_says_what_to_do() {
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
