//! Outages around a takeover: only one gateway at a time records them.

use evermoor_core::api::UpstreamState;
use evermoor_core::history::incident::Resolution;
use evermoor_core::lifecycle::handover_messages::{HANDOVER_VERSION, SuccessorMessage};
use evermoor_tests::Scene;
use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::gateway::Gateway;

use super::attempts::Taker;

#[tokio::test]
async fn an_outage_continues_across_a_takeover() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut old = scene.gateway_with("hold = 0", &[&upstream]).await;
    old.until_connected("notes").await;
    upstream.kill().await;
    old.until_down("notes").await;
    old.editor("/mcp/notes").await.attempt("record", "never").await;
    let before = old.until_incident(|one| one.calls.not_sent == 1).await;
    let new = Gateway::take_over(&scene.home()).await;
    assert!(old.process.ended().await.success());
    new.editor("/mcp/notes").await.attempt("record", "never").await;
    let lasts = new.until_incident(|one| one.calls.not_sent == 2).await;
    assert_eq!((lasts.id, lasts.end, lasts.unwatched), (before.id, None, 0));
    assert!(!lasts.events.iter().any(|event| event.what.contains("No gateway")), "{lasts:?}");
    upstream.start_again().await;
    let over = new.until_incident(|one| one.end.is_some()).await;
    assert_eq!((over.id, over.end.unwrap().how), (before.id, Resolution::Reconnected));
    assert_eq!(new.incidents("").await.len(), 1);
}

#[tokio::test]
async fn an_outage_seen_by_both_gateways_is_recorded_once() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut old = scene.gateway(&[&upstream]).await;
    old.until_connected("notes").await;
    let mut editor = old.editor("/mcp/notes").await;
    let takeover = async {
        upstream.until_executed("lost").await;
        let new = Gateway::take_over(&scene.home()).await;
        new.until_connected("notes").await;
        upstream.kill().await;
        new.until_down("notes").await;
        new
    };
    let (lost, new) = tokio::join!(editor.attempt("hang", "lost"), takeover);
    assert!(matches!(lost.verdict, Verdict::Unknown { .. }), "{lost:?}");
    assert!(old.process.ended().await.success(), "what it had to say, it has said");
    let lasts = new.until_incident(|_| true).await;
    assert_eq!((lasts.end, new.incidents("").await.len()), (None, 1));
}

#[tokio::test]
async fn an_outage_during_a_failed_takeover_is_recorded_afterwards() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    assert_eq!(gateway.incidents("").await, []);
    let mut states = gateway.states().await;
    let mut taker = Taker::come(&scene.home()).await;
    taker.ask(HANDOVER_VERSION).await;
    taker.receive().await;
    taker.send(&SuccessorMessage::Ready).await;
    taker.receive().await;
    let file = || std::fs::read(scene.home().join("data/history.sqlite-wal")).unwrap();
    let before = file();
    upstream.kill().await;
    while !matches!(states.next().await.upstreams[0].link, UpstreamState::Down { .. }) {}
    assert_eq!(file(), before, "the file may be another's");
    drop(taker);
    let lasts = gateway.until_incident(|_| true).await;
    assert_eq!((lasts.upstream.as_str(), lasts.end), ("notes", None));
}
