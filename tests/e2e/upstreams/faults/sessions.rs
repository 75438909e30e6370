//! Upstreams that forget their sessions.

use std::time::Duration;

use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::fakes::upstream::script::{Act, Forgotten};
use tokio::task::JoinSet;

use super::{Play, is_not_sent, timed};

#[tokio::test]
async fn a_session_lost_with_404_is_renewed_and_the_call_runs_once() {
    a_forgotten_session_is_made_anew(Forgotten::NotFound).await;
}

#[tokio::test]
async fn a_session_lost_with_400_is_renewed_and_the_call_runs_once() {
    a_forgotten_session_is_made_anew(Forgotten::BadRequest).await;
}

#[tokio::test]
async fn a_session_lost_with_410_is_renewed_and_the_call_runs_once() {
    a_forgotten_session_is_made_anew(Forgotten::Gone).await;
}

#[tokio::test]
async fn a_session_lost_with_401_is_renewed_and_the_call_runs_once() {
    a_forgotten_session_is_made_anew(Forgotten::Unauthorized).await;
}

async fn a_forgotten_session_is_made_anew(style: Forgotten) {
    let mut play = Play::new().await;
    for round in 0..3 {
        play.upstream.forget(style).await;
        play.works(&format!("round {round}")).await;
    }
    assert_eq!(play.upstream.asked("initialize").await, 4);
}

#[tokio::test]
async fn a_lost_session_is_renewed_for_a_read_too() {
    let mut play = Play::new().await;
    for style in [Forgotten::NotFound, Forgotten::BadRequest, Forgotten::Gone] {
        play.upstream.forget(style).await;
        let uri = format!("note:{style:?}");
        let answer = play.editor.read(&uri).await;
        assert_eq!((&answer.verdict, answer.text.as_str()), (&Verdict::Done, uri.as_str()));
    }
}

#[tokio::test]
async fn many_calls_on_a_forgotten_session_share_one_new_session_and_each_runs_once() {
    let play = Play::new().await;
    let mut editors = Vec::new();
    for _ in 0..8 {
        editors.push(play.gateway.editor("/mcp/notes").await);
    }
    play.upstream.forget(Forgotten::NotFound).await;
    let mut calls = JoinSet::new();
    for (number, mut editor) in editors.into_iter().enumerate() {
        let nonce = format!("together {number}");
        calls.spawn(async move { (editor.attempt("record", &nonce).await, nonce) });
    }
    for (answer, nonce) in calls.join_all().await {
        play.check(&nonce, &answer);
        assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
    }
    assert_eq!(play.upstream.asked("initialize").await, 2, "one session was made anew");
}

#[tokio::test]
async fn an_upstream_that_loses_every_session_at_once_is_not_retried_forever() {
    let mut play = Play::with("hold = 20", "").await;
    let before = play.upstream.asked("initialize").await;
    play.upstream.always("tools/call", Act::refuse(404)).await;
    let (answer, took) = timed(play.record("never")).await;
    assert!(is_not_sent(&answer), "{answer:?}");
    let made = play.upstream.asked("initialize").await - before;
    assert!(made <= 3, "{made} sessions were made");
    assert_eq!(answer.why().0, -33001, "{answer:?}");
    assert!(took < Duration::from_secs(20), "{took:?}");
    play.upstream.behave().await;
    play.works("after").await;
}
