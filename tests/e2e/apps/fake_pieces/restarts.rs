//! How PiecesOS exits and starts again.

use evermoor_tests::Scene;
use evermoor_tests::fakes::pieces::{Fault, Flap, OnRestart, Pieces};
use evermoor_tests::gateway::http;
use reqwest::{Method, StatusCode};

use super::{HEALTH, STREAMABLE, ask, get};

async fn restart(pieces: &Pieces) -> StatusCode {
    ask(pieces, Method::GET, "/os/restart").await.0
}

#[tokio::test]
async fn a_restart_is_another_process_on_the_same_port() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let (old, health) = (pieces.newest(), get(&pieces, HEALTH).await);
    assert_eq!(restart(&pieces).await, StatusCode::NO_CONTENT);
    let new = pieces.instance(2).await;
    old.ended().await;
    assert_ne!(new.pid, old.pid);
    assert_eq!(new.port, old.port);
    assert_ne!(get(&pieces, HEALTH).await, health, "each life has its own number");
    assert_eq!(pieces.ledger.executions("GET /os/restart"), 1);
}

#[tokio::test]
async fn a_restart_that_is_refused_or_ignored_changes_nothing() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    pieces.alter(|settings| settings.on_restart = OnRestart::Refuses { status: 500 });
    assert_eq!(restart(&pieces).await, StatusCode::INTERNAL_SERVER_ERROR);
    pieces.alter(|settings| settings.on_restart = OnRestart::Ignores);
    assert_eq!(restart(&pieces).await, StatusCode::NO_CONTENT);
    get(&pieces, HEALTH).await;
    assert_eq!((pieces.starts(), pieces.newest().has_ended()), (1, false));
}

#[tokio::test]
async fn the_old_process_may_answer_health_for_a_while_after_it_said_that_it_restarts() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    pieces.alter(|settings| settings.on_restart = OnRestart::Lingers { millis: 300 });
    let old = get(&pieces, HEALTH).await;
    restart(&pieces).await;
    assert_eq!(get(&pieces, HEALTH).await, old);
    let mcp = ask(&pieces, Method::POST, STREAMABLE).await.0;
    assert_eq!(mcp, StatusCode::SERVICE_UNAVAILABLE);
    pieces.instance(2).await;
    assert_ne!(get(&pieces, HEALTH).await, old);
}

#[tokio::test]
async fn the_old_process_may_answer_health_beside_the_new_one() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    pieces.alter(|settings| settings.on_restart = OnRestart::Overlaps);
    let (old, at) = (pieces.newest(), pieces.url(HEALTH));
    restart(&pieces).await;
    let new = pieces.instance(2).await;
    assert_ne!((new.pid, new.port), (old.pid, old.port));
    assert!(http().get(at).send().await.unwrap().status().is_success());
    assert!(!old.has_ended());
}

#[tokio::test]
async fn it_quits_on_request_and_stays_down() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    assert_eq!(ask(&pieces, Method::POST, "/os/terminate").await.0, StatusCode::NO_CONTENT);
    pieces.newest().ended().await;
    assert_eq!(pieces.starts(), 1);
}

#[tokio::test]
async fn it_aborts_and_can_be_launched_again() {
    let scene = Scene::new();
    let mut pieces = Pieces::start(&scene).await;
    let first = pieces.newest();
    pieces.tell(Fault::Abort).await;
    first.ended().await;
    assert!(http().get(pieces.url(HEALTH)).send().await.is_err());
    assert_eq!(pieces.launch().await.port, first.port);
}

#[tokio::test]
async fn it_comes_back_on_another_port() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let old = pieces.newest();
    pieces.tell(Fault::Move).await;
    let new = pieces.instance(2).await;
    assert_eq!(new.port, old.port + 1);
    assert!(http().get(format!("http://127.0.0.1:{}{HEALTH}", old.port)).send().await.is_err());
}

#[tokio::test]
async fn it_crashes_the_configured_number_of_times_and_then_stays() {
    let scene = Scene::new();
    let mut pieces = Pieces::install(&scene).await;
    let flap = Flap { left: 3, up_millis: 20, down_millis: 20 };
    pieces.alter(|settings| settings.flap = Some(flap));
    pieces.launch().await;
    let last = pieces.instance(4).await;
    get(&pieces, HEALTH).await;
    assert!(!last.has_ended());
    assert_eq!(pieces.starts(), 4);
}
