//! Outages of PiecesOS: calls are held, lists stay, and nothing runs twice.

use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::fakes::pieces::Flap;
use evermoor_tests::oracle;

use super::*;

#[tokio::test]
async fn a_crash_and_return_on_the_same_port_loses_no_call_and_no_list() {
    let scene = Scene::new();
    let (mut pieces, gateway) = connected(&scene, "restart = \"never\"\n").await;
    let (port, mut editor) = (pieces.port(), editor(&gateway).await);
    pieces.newest().tell_last(Fault::Abort).await;
    gateway.until_down("pieces").await;
    assert_eq!(tools(&mut editor).await, ITS_OWN);
    let ledger = pieces.ledger.clone();
    let (said, life) = tokio::join!(remember(&mut editor, "held"), pieces.launch());
    assert_eq!((said.as_str(), life.port), ("held", port));
    assert_eq!(ledger.executions("held"), 1);
}

#[tokio::test]
async fn a_call_before_it_has_started_is_held() {
    let scene = Scene::new();
    let mut pieces = Pieces::install(&scene).await;
    let gateway = gateway(&scene, &pieces, "").await;
    let mut editor = editor(&gateway).await;
    let ledger = pieces.ledger.clone();
    let (said, _) = tokio::join!(remember(&mut editor, "held"), pieces.launch());
    assert_eq!((said.as_str(), ledger.executions("held")), ("held", 1));
}

#[tokio::test]
async fn a_call_while_it_is_starting_is_held() {
    let scene = Scene::new();
    let mut pieces = Pieces::install(&scene).await;
    pieces.alter(|settings| settings.half_up = true);
    pieces.launch().await;
    let gateway = gateway(&scene, &pieces, "").await;
    gateway.until_down("pieces").await;
    let mut editor = editor(&gateway).await;
    let coming_up = async { pieces.alter(|settings| settings.half_up = false) };
    let (said, ()) = tokio::join!(remember(&mut editor, "held"), coming_up);
    assert_eq!((said.as_str(), pieces.ledger.executions("held")), ("held", 1));
}

#[tokio::test]
async fn while_it_flaps_every_call_is_answered_honestly_and_runs_at_most_once() {
    let scene = Scene::new();
    let mut pieces = Pieces::install(&scene).await;
    let flap = Flap { left: 6, up_millis: 400, down_millis: 200 };
    pieces.alter(|settings| settings.flap = Some(flap));
    let gateway = gateway(&scene, &pieces, "restart = \"never\"\n").await;
    let mut editor = editor(&gateway).await;
    pieces.launch().await;
    let mut number = 0;
    while pieces.starts() < 7 {
        let nonce = format!("call {number}");
        let answer = editor.attempt("create_pieces_memory", &nonce).await;
        assert_eq!(oracle::contradiction(&nonce, &answer, pieces.ledger.executions(&nonce)), None);
        number += 1;
    }
    let last = editor.attempt("create_pieces_memory", "last").await;
    assert_eq!(last.verdict, Verdict::Done, "{last:?}");
    assert!(pieces.ledger.all().values().all(|executions| *executions == 1));
}
