//! Finding an application and its state.

use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_core::failure::Code;
use evermoor_core::policy::app::state::NextStep;
use evermoor_tests::Scene;
use evermoor_tests::fakes::pieces::{Fault, Pieces};

use super::{connected, editor, gateway, remember, until_app};

fn failed(upstream: &UpstreamStatus, wanted: Code) -> bool {
    matches!(&upstream.link, UpstreamState::Down { failure, .. } if failure.code == wanted)
}

#[tokio::test]
async fn an_application_is_found_and_its_process_is_known() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let app = until_app(&gateway, |app| app.pid.is_some()).await;
    assert_eq!((app.pid, app.port), (Some(pieces.pid()), Some(pieces.port())));
    assert_eq!(app.version.as_deref(), Some("12.3.10"));
    assert_eq!((app.word.as_str(), app.next), ("Connected", NextStep::Nothing));
    assert!(app.memory.is_some_and(|memory| memory > 1_000_000), "{app:?}");
    let mut editor = editor(&gateway).await;
    assert_eq!(remember(&mut editor, "a").await, "a");
}

#[tokio::test]
async fn an_application_that_moves_is_followed_and_no_call_is_lost() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let (mut editor, before) = (editor(&gateway).await, pieces.newest());
    assert_eq!(remember(&mut editor, "before").await, "before");
    before.tell_last(Fault::Move).await;
    assert_eq!(remember(&mut editor, "after").await, "after");
    let now = pieces.instance(2).await;
    assert_ne!(now.port, before.port);
    let app = until_app(&gateway, |app| app.pid == Some(now.pid)).await;
    assert_eq!(app.port, Some(now.port));
    assert_eq!(pieces.ledger.executions("after"), 1);
}

#[tokio::test]
async fn each_reason_for_being_down_has_its_own_text() {
    let scene = Scene::new();
    let mut pieces = Pieces::install(&scene).await;
    let gateway = gateway(&scene, &pieces, "").await;
    gateway.until("pieces", |upstream| failed(upstream, Code::NotRunning)).await;
    pieces.alter(|settings| settings.half_up = true);
    pieces.launch().await;
    gateway.until("pieces", |upstream| failed(upstream, Code::Starting)).await;
    let app = until_app(&gateway, |app| app.word == "Not ready").await;
    assert!(app.what.contains("its tools are not ready yet"), "{app:?}");
    pieces.alter(|settings| settings.half_up = false);
    gateway.until_connected("pieces").await;
}

#[tokio::test]
async fn an_application_that_is_not_installed_shows_where_to_get_it() {
    let scene = Scene::new();
    let pieces = Pieces::install(&scene).await;
    pieces.uninstall();
    let gateway = gateway(&scene, &pieces, "").await;
    let seen = gateway.until("pieces", |upstream| failed(upstream, Code::NotInstalled)).await;
    let UpstreamState::Down { failure, .. } = &seen.link else { panic!("it is down") };
    assert!(failure.remedy.contains("https://pieces.app"), "{failure}");
}

#[tokio::test]
async fn its_own_warnings_are_shown_while_they_hold_and_its_tools_stay() {
    let scene = Scene::new();
    let pieces = Pieces::install(&scene).await;
    pieces.alter(|settings| {
        (settings.signed_in, settings.long_term_memory) = (false, false);
        settings.version = "14.0.0".into();
    });
    let mut pieces = pieces;
    pieces.launch().await;
    let gateway = gateway(&scene, &pieces, "").await;
    let app = until_app(&gateway, |app| app.word == "Signed out").await;
    assert_eq!(app.next, NextStep::Open);
    assert!(app.notes.iter().any(|note| note.contains("Long-term memory is turned off")));
    assert!(app.notes.iter().any(|note| note.contains("14.0.0 is newer")), "{app:?}");
    gateway.until_connected("pieces").await;
    let mut editor = editor(&gateway).await;
    assert_eq!(remember(&mut editor, "a").await, "a", "a newer version is no refusal");
    pieces.alter(|settings| {
        (settings.signed_in, settings.long_term_memory) = (true, true);
        settings.version = "12.3.10".into();
    });
    let _looking = gateway.look("pieces").await;
    let app = until_app(&gateway, |app| app.word == "Connected").await;
    assert_eq!(app.notes, [""; 0]);
}
