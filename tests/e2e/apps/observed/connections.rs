//! Closed connections, forgotten sessions, and invalid data on streams.

use super::*;

#[tokio::test]
async fn a_dropped_idle_stream_is_reopened_automatically() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let (mut notifications, mut editor) = (notifications(&gateway).await, editor(&gateway).await);
    pieces.tell(Fault::Drop).await;
    pieces.alter(|settings| settings.tools = vec!["new".into()]);
    announce_until_told(&pieces, &mut notifications).await;
    pieces.tell(Fault::Drop).await;
    assert_eq!(remember(&mut editor, "next").await, "next");
}

#[tokio::test]
async fn twenty_dropped_connections_lose_no_call() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let mut editor = editor(&gateway).await;
    for number in 0..20 {
        pieces.tell(Fault::Drop).await;
        let words = format!("after drop {number}");
        assert_eq!(remember(&mut editor, &words).await, words);
        assert_eq!(pieces.ledger.executions(&words), 1);
    }
}

#[tokio::test]
async fn lost_sessions_are_renewed_and_the_call_runs_once() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let mut editor = editor(&gateway).await;
    for words in ["one", "two", "three"] {
        pieces.tell(Fault::Forget).await;
        assert_eq!(remember(&mut editor, words).await, words);
        assert_eq!(pieces.ledger.executions(words), 1);
    }
}

#[tokio::test]
async fn invalid_data_on_the_stream_blocks_nothing() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let (mut notifications, mut editor) = (notifications(&gateway).await, editor(&gateway).await);
    for (number, tool) in ["new", "newer"].into_iter().enumerate() {
        pieces.tell(Fault::Babble).await;
        assert_eq!(remember(&mut editor, tool).await, tool);
        pieces.alter(|settings| settings.tools.push(tool.into()));
        announce_until_told(&pieces, &mut notifications).await;
        assert_eq!(tools(&mut editor).await.len(), ITS_OWN.len() + number + 1);
    }
}

#[tokio::test]
async fn an_application_that_requires_a_handshake_gets_one() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    pieces.alter(|settings| settings.strict = true);
    let gateway = gateway(&scene, &pieces, "").await;
    let mut editor = editor(&gateway).await;
    assert_eq!(remember(&mut editor, "a").await, "a");
    assert_eq!(tools(&mut editor).await, ITS_OWN);
}
