//! Calls: none is lost silently, none runs twice, and every answer arrives complete.

use std::cell::RefCell;

use evermoor_core::protocol::json::Raw;
use evermoor_tests::fakes::pieces::{Area, Fault};
use futures_util::future::join_all;

use super::*;

#[tokio::test]
async fn the_very_first_call_after_the_start_succeeds() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let gateway = gateway(&scene, &pieces, "").await;
    let mut editor = editor(&gateway).await;
    assert_eq!(remember(&mut editor, "first").await, "first");
    assert_eq!(pieces.ledger.executions("first"), 1);
}

#[tokio::test]
async fn a_call_whose_connection_drops_is_unknown_and_the_next_succeeds() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let mut editor = editor(&gateway).await;
    pieces.tell(Fault::Hang(Area::Calls)).await;
    let dropping = async {
        pieces.ledger.until_executed("cut").await;
        pieces.tell(Fault::Drop).await;
        pieces.tell(Fault::Behave).await;
    };
    let (said, ()) = tokio::join!(whole_answer(&mut editor, "cut"), dropping);
    assert!(is_unknown(&said), "{said}");
    assert_eq!(remember(&mut editor, "next").await, "next");
    for words in ["cut", "next"] {
        assert_eq!(pieces.ledger.executions(words), 1);
    }
}

#[tokio::test]
async fn a_call_that_ran_and_lost_its_reply_is_unknown_and_not_repeated() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let mut editor = editor(&gateway).await;
    pieces.tell(Fault::LoseReplies { times: 1 }).await;
    let said = whole_answer(&mut editor, "ran").await;
    assert!(is_unknown(&said), "{said}");
    assert_eq!(remember(&mut editor, "next").await, "next");
    assert_eq!(pieces.ledger.executions("ran"), 1);
}

#[tokio::test]
async fn calls_refused_with_503_say_so_and_the_next_succeeds() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let mut editor = editor(&gateway).await;
    pieces.tell(Fault::Refuse { area: Area::Mcp, status: 503, times: Some(2) }).await;
    // The notification stream may receive a refusal instead of a call.
    for words in ["one", "two", "three"] {
        let said = whole_answer(&mut editor, words).await;
        let text = said["content"][0]["text"].as_str().unwrap();
        let refused = said["isError"] == true && text.contains("503");
        assert!(refused || text == words, "{said}");
        assert_eq!(pieces.ledger.executions(words), usize::from(!refused));
    }
    assert_eq!(remember(&mut editor, "next").await, "next");
}

#[tokio::test]
async fn a_slow_call_delays_no_other() {
    let scene = Scene::new();
    let (pieces, gateway) = connected(&scene, "").await;
    let mut editor = editor(&gateway).await;
    let ended = RefCell::new(Vec::new());
    pieces.tell(Fault::Slow { area: Area::Calls, millis: 4000 }).await;
    let mut crowd = editor.crowd(8);
    let slow = async {
        let said = remember(&mut editor, "slow").await;
        ended.borrow_mut().push(said);
    };
    let others = async {
        pieces.ledger.until_executed("slow").await;
        pieces.tell(Fault::Behave).await;
        join_all(crowd.iter_mut().map(async |one| {
            let said = remember(one, "quick").await;
            ended.borrow_mut().push(said);
        }))
        .await;
    };
    tokio::join!(slow, others);
    let ended = ended.into_inner();
    assert_eq!((ended.len(), ended.last().map(String::as_str)), (9, Some("slow")), "{ended:?}");
    assert_eq!(pieces.ledger.executions("quick"), 8);
}

#[tokio::test]
async fn progress_structured_content_and_errors_of_tools_arrive() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    pieces.alter(|settings| settings.tools = vec!["look_up".into()]);
    let gateway = gateway(&scene, &pieces, "").await;
    gateway.until_connected("pieces").await;
    let mut editor = editor(&gateway).await;
    let params = json!({
        "name": "look_up", "arguments": { "nonce": "a" }, "_meta": { "progressToken": "mine" },
    });
    let said = editor.ask("tools/call", &params).await;
    assert_eq!(said["structuredContent"], json!({ "nonce": "a" }));
    let progress =
        editor.notifications[0].params.as_ref().map(Raw::as_str).expect("progress says how much");
    assert!(progress.contains("\"mine\""), "{progress}");
    let said = editor.call("create_pieces_memory", &json!({})).await;
    assert_eq!(said["isError"], true);
    assert_eq!(said["content"][0]["text"], "Say what it is about.");
}
