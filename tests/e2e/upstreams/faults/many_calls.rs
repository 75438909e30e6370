//! Very many concurrent calls.

use evermoor_tests::editor::answer::{CallAnswer, Verdict};
use evermoor_tests::oracle::{self, RecordedCall};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Play;

const CALLS: usize = 2000;
const HELD: usize = 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_thousand_calls_the_allowed_number_is_held_and_the_rest_is_refused_at_once() {
    let mut play = Play::with("hold = 25", "").await;
    let editors = play.editor.crowd(CALLS);
    play.proxy.set(evermoor_tests::network::proxy::NetworkFault::Refuse).await;
    play.gateway.until_down("notes").await;
    let began = Instant::now();
    let mut calls = JoinSet::new();
    for (number, mut editor) in editors.into_iter().enumerate() {
        let nonce = format!("crowd {number}");
        calls.spawn(async move {
            let answer = editor.attempt("record", &nonce).await;
            RecordedCall { nonce, answer, took: began.elapsed() }
        });
    }
    let mut history = Vec::new();
    while history.len() < CALLS - HELD {
        let call = calls.join_next().await.unwrap().unwrap();
        assert_eq!(call.answer.why(), (-33002, "queue_full"), "{:?}", call.answer);
        history.push(call);
    }
    play.proxy.heal().await;
    history.extend(calls.join_all().await);
    let ledger = play.upstream.ledger.all();
    let tally = oracle::check(&history, &ledger).unwrap();
    assert_eq!((tally.not_sent, tally.done + tally.unknown), (CALLS - HELD, HELD), "{tally:?}");
    assert_eq!(tally.done, HELD, "{tally:?}");
    play.works("after the crowd").await;
}

#[tokio::test]
async fn a_call_refused_by_a_full_queue_says_when_to_retry() {
    let play = Play::with("hold = 25", "").await;
    let editors = play.editor.crowd(HELD + 1);
    play.proxy.set(evermoor_tests::network::proxy::NetworkFault::Refuse).await;
    play.gateway.until_down("notes").await;
    let mut calls: JoinSet<CallAnswer> = JoinSet::new();
    for (number, mut editor) in editors.into_iter().enumerate() {
        calls.spawn(async move { editor.attempt("record", &format!("crowd {number}")).await });
    }
    let first = calls.join_next().await.unwrap().unwrap();
    assert!(matches!(first.verdict, Verdict::NotSent { .. }), "{first:?}");
    assert!(first.details["retryAfterMs"].as_u64().is_some_and(|wait| wait > 0), "{first:?}");
}
