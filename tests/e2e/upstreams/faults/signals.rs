//! Real signals to a real process: killed and frozen upstreams.

use std::time::Duration;

use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::fakes::upstream::script::Act;
use serde_json::json;

use super::{Play, is_unknown, timed};

#[tokio::test]
async fn an_upstream_killed_while_idle_is_noticed_keeps_its_tools_and_its_next_call() {
    let mut play = Play::direct("", "").await;
    play.upstream.kill().await;
    let (_, took) = timed(play.gateway.until_down("notes")).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    let listed = play.editor.ask("tools/list", &json!({})).await;
    assert_eq!(listed["tools"][0]["name"], "record");
    let (answer, ()) =
        tokio::join!(play.editor.attempt("record", "held"), play.upstream.start_again());
    play.check("held", &answer);
    assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
}

#[tokio::test]
async fn an_upstream_killed_during_a_call_makes_it_unknown_at_once_and_it_is_not_repeated() {
    let mut play = Play::direct("", "").await;
    let killed = async {
        play.upstream.until_executed("cut").await;
        play.upstream.kill().await;
        tokio::time::Instant::now()
    };
    let (answer, killed) = tokio::join!(play.editor.attempt("hang", "cut"), killed);
    assert!(killed.elapsed() < Duration::from_secs(2), "{:?}", killed.elapsed());
    play.upstream.start_again().await;
    play.works("after").await;
    play.check("cut", &answer);
    assert!(is_unknown(&answer), "{answer:?}");
    assert_eq!(play.upstream.ledger.executions("cut"), 1);
    assert_eq!(answer.why(), (-33012, "upstream_crashed"), "{answer:?}");
}

#[tokio::test]
async fn a_read_under_way_when_the_upstream_is_killed_is_sent_again_and_answered() {
    let mut play = Play::direct("", "").await;
    play.upstream.always("resources/read", Act::Hang).await;
    let (answer, ()) = tokio::join!(play.editor.read("note:1"), async {
        play.upstream.until_executed("note:1").await;
        play.upstream.kill().await;
        play.upstream.start_again().await;
    });
    assert_eq!((&answer.verdict, answer.text.as_str()), (&Verdict::Done, "note:1"), "{answer:?}");
}

#[tokio::test]
async fn a_call_to_a_frozen_upstream_ends_at_its_limit_and_its_late_reply_reaches_nobody() {
    let mut play = Play::direct("", "call_timeout = 2").await;
    play.upstream.freeze();
    let answer = play.editor.attempt("record", "frozen").await;
    play.check("frozen", &answer);
    assert_eq!(answer.why().0, -33011, "{answer:?}");
    play.upstream.thaw();
    play.works("after").await;
    play.check("frozen", &answer);
}

#[tokio::test]
async fn a_frozen_upstream_is_noticed_although_nobody_calls_and_comes_back_by_itself() {
    let mut play = Play::direct("", "keepalive_interval = 1").await;
    play.upstream.freeze();
    let (down, took) = timed(play.gateway.until_down("notes")).await;
    assert_eq!(down.word(), "Not responding");
    assert!(took < Duration::from_secs(25), "{took:?}");
    play.upstream.thaw();
    play.gateway.until_connected("notes").await;
    play.works("after").await;
}

#[tokio::test]
async fn a_call_held_while_the_upstream_is_frozen_runs_once_when_it_goes_on() {
    let mut play = Play::direct("", "keepalive_interval = 1").await;
    play.upstream.freeze();
    play.gateway.until_down("notes").await;
    let upstream = &play.upstream;
    let (answer, ()) =
        tokio::join!(play.editor.attempt("record", "held"), async { upstream.thaw() });
    play.check("held", &answer);
    assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
}

#[tokio::test]
async fn a_busy_upstream_is_not_taken_for_a_dead_one() {
    let mut play = Play::direct("", "keepalive_interval = 1").await;
    play.upstream.always("tools/call", Act::Wait { millis: 4000 }).await;
    let answer = play.record("slow").await;
    assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
    assert_eq!(play.upstream.asked("initialize").await, 1, "the connection was kept");
}

#[tokio::test]
async fn twenty_kills_in_a_row_lose_and_double_nothing() {
    let mut play = Play::direct("", "").await;
    for round in 0..20 {
        play.upstream.kill().await;
        let nonce = format!("kill {round}");
        let (answer, ()) =
            tokio::join!(play.editor.attempt("record", &nonce), play.upstream.start_again());
        play.check(&nonce, &answer);
        assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
    }
}
