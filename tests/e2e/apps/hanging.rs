//! An application that runs but does not answer. It may be busy, so the user decides.

use evermoor_core::policy::app::state::NextStep;
use evermoor_tests::Scene;

use super::{connected, editor, ended, incidents, remember, steps, until_app};

const OFTEN: &str = "keepalive_interval = \"1s\"\n";

#[tokio::test]
async fn a_restart_is_offered_for_a_hanging_application_until_it_answers() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, OFTEN).await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    pieces.freeze();
    let app = until_app(&gateway, |app| app.offer.is_some()).await;
    assert_eq!((app.word.as_str(), app.next), ("Not responding", NextStep::Restart));
    assert_eq!((app.restart, pieces.starts()), (None, 1));
    pieces.thaw();
    let app = until_app(&gateway, |app| app.word == "Connected").await;
    assert_eq!(app.pid, Some(pieces.pid()));
    assert_eq!(app.offer, None, "it needs no restart any more");
    let mut editor = editor(&gateway).await;
    assert_eq!(remember(&mut editor, "a").await, "a");
}

#[tokio::test]
async fn with_always_a_hanging_application_is_restarted() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, &format!("{OFTEN}restart = \"always\"\n")).await;
    until_app(&gateway, |app| app.pid.is_some()).await;
    let old = pieces.newest();
    pieces.freeze();
    let restart = ended(&gateway, 1).await;
    assert_eq!(restart.end.as_ref().unwrap().failure, None, "{:?}", steps(&restart));
    let why = "Restarting PiecesOS because it stopped responding.";
    assert_eq!(steps(&restart)[0], why);
    assert!(old.has_ended() && pieces.starts() == 2);
    let events = &incidents(&gateway).await[0].events;
    assert!(events.iter().any(|event| event.what == why), "{events:?}");
}
