//! A PiecesOS that accepts requests and does not answer.

use evermoor_tests::fakes::pieces::Area;

use super::*;

const OFTEN: &str = "keepalive_interval = \"1s\"\n";

#[tokio::test]
async fn mcp_that_hangs_while_health_is_good_is_noticed_and_its_tools_stay() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, OFTEN).await;
    let mut editor = editor(&gateway).await;
    pieces.tell(Fault::Hang(Area::Mcp)).await;
    let down = gateway.until_down("pieces").await;
    assert_eq!(down.word(), "Not responding");
    assert_eq!(tools(&mut editor).await, ITS_OWN);
    pieces.tell(Fault::Behave).await;
    assert_eq!(remember(&mut editor, "after").await, "after");
    assert_eq!((pieces.starts(), pieces.ledger.executions("after")), (1, 1));
}

#[tokio::test]
async fn an_unanswered_list_is_answered_from_the_cache() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let mut editor = editor(&gateway).await;
    pieces.tell(Fault::Hang(Area::Mcp)).await;
    assert_eq!(tools(&mut editor).await, ITS_OWN);
}

#[tokio::test]
async fn while_it_is_frozen_the_gateway_answers_and_afterwards_calls_succeed() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, OFTEN).await;
    let (mut one, mut all) = (editor(&gateway).await, gateway.editor("/mcp").await);
    pieces.freeze();
    one.ask("ping", &json!({})).await;
    all.ask("ping", &json!({})).await;
    assert_eq!(tools(&mut all).await.len(), 2);
    gateway.until_down("pieces").await;
    assert_eq!(tools(&mut one).await, ITS_OWN);
    pieces.thaw();
    assert_eq!(remember(&mut one, "after").await, "after");
    assert_eq!((pieces.starts(), pieces.ledger.executions("after")), (1, 1));
}
