//! An application that uses too much memory: what the gateway tries, offers and does.

use evermoor_tests::Scene;
use evermoor_tests::fakes::pieces::{Area, Fault, Pieces};
use evermoor_tests::gateway::Gateway;
use http::Method;

use super::{connected, editor, ended, entry, remember, steps, until_app};

const MB: usize = 1_000_000;
/// Far more than the fake itself uses.
const MUCH: u64 = 80 * MB as u64;
const RELIEF: &str = "POST /os/memory/optimize";
const SOON: &str = "[relief]\nask = \"POST /os/memory/optimize\"\nwithin = \"1s\"\n\
                    [memory]\nnormal = \"10 MB\"\nalarm = \"80 MB\"\nidle = \"1s\"\n";

/// A running PiecesOS with these limits, and a gateway with `more` in its entry.
async fn limited(scene: &Scene, more: &str) -> (Pieces, Gateway) {
    let pieces = Pieces::start(scene).await;
    pieces.describe(&scene.home(), SOON);
    let gateway = scene.gateway_of("", &entry(more)).await;
    until_app(&gateway, |app| app.memory.is_some()).await;
    (pieces, gateway)
}

#[tokio::test]
async fn memory_relief_is_tried_first_and_is_enough_where_it_helps() {
    let scene = Scene::new();
    let (pieces, gateway) = limited(&scene, "recycle = \"when-idle\"\n").await;
    let _looking = gateway.look("pieces").await;
    pieces.tell(Fault::Grow { bytes: 100 * MB, for_good: false }).await;
    pieces.ledger.until_executed(RELIEF).await;
    let app = until_app(&gateway, |app| app.memory.is_some_and(|memory| memory < MUCH)).await;
    assert_eq!((app.offer, app.restart), (None, None));
    assert_eq!((pieces.ledger.executions(RELIEF), pieces.starts()), (1, 1));
}

#[tokio::test]
async fn where_relief_does_not_help_a_restart_is_only_offered() {
    let scene = Scene::new();
    let (pieces, gateway) = limited(&scene, "").await;
    let _looking = gateway.look("pieces").await;
    pieces.tell(Fault::Grow { bytes: 100 * MB, for_good: true }).await;
    let app = until_app(&gateway, |app| app.offer.is_some()).await;
    let offer = app.offer.unwrap();
    assert!(offer.starts_with("PiecesOS uses 1"), "{offer}");
    assert!(offer.ends_with("Restart it before it fails; no calls are lost."), "{offer}");
    assert_eq!(app.restart, None);
    assert_eq!((pieces.ledger.executions(RELIEF), pieces.starts()), (1, 1));
}

#[tokio::test]
async fn an_offer_about_memory_outlives_the_connection() {
    let scene = Scene::new();
    let (pieces, gateway) = limited(&scene, "").await;
    let _looking = gateway.look("pieces").await;
    pieces.tell(Fault::Grow { bytes: 100 * MB, for_good: true }).await;
    let app = until_app(&gateway, |app| app.offer.is_some()).await;
    pieces.tell(Fault::Refuse { area: Area::Mcp, status: 500, times: None }).await;
    pieces.tell(Fault::Refuse { area: Area::Health, status: 500, times: None }).await;
    gateway.control(Method::POST, "/api/upstreams/pieces/reconnect").await;
    until_app(&gateway, |away| away.word != app.word).await;
    pieces.tell(Fault::Behave).await;
    gateway.until_connected("pieces").await;
    let again = until_app(&gateway, |app| app.offer.is_some() && app.memory.is_some()).await;
    assert_eq!((again.offer, again.pid), (app.offer, app.pid));
}

#[tokio::test]
async fn an_idle_application_is_restarted_if_allowed_and_no_call_is_lost() {
    let scene = Scene::new();
    let (pieces, gateway) = limited(&scene, "recycle = \"when-idle\"\n").await;
    let (_looking, mut editor) = (gateway.look("pieces").await, editor(&gateway).await);
    assert_eq!(remember(&mut editor, "before").await, "before");
    pieces.tell(Fault::Grow { bytes: 100 * MB, for_good: true }).await;
    let restart = ended(&gateway, 1).await;
    assert_eq!(restart.end.as_ref().unwrap().failure, None, "{:?}", steps(&restart));
    let why = "Restarting PiecesOS while it is idle, to free memory.";
    assert_eq!(steps(&restart)[0], why);
    assert_eq!(remember(&mut editor, "after").await, "after");
    let app = until_app(&gateway, |app| app.memory.is_some_and(|memory| memory < MUCH)).await;
    assert_eq!((app.pid, pieces.starts()), (Some(pieces.pid()), 2));
    for words in ["before", "after", RELIEF] {
        assert_eq!(pieces.ledger.executions(words), 1);
    }
}

#[tokio::test]
async fn the_persons_memory_limit_overrides_the_presets() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "memory_alarm = \"80 MB\"\n").await;
    let _looking = gateway.look("pieces").await;
    pieces.tell(Fault::Grow { bytes: 100 * MB, for_good: false }).await;
    pieces.ledger.until_executed(RELIEF).await;
    assert_eq!(pieces.starts(), 1);
}
