//! Upstreams that accept connections but fail before they are usable.

use std::time::Duration;

use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::fakes::upstream::script::Act;
use evermoor_tests::network::proxy::NetworkFault;
use serde_json::json;

use super::{Play, is_not_sent, timed};

/// Kills the upstream, starts it again with orders, and lets the gateway find it.
async fn comes_back_with(play: &mut Play, orders: &[(&str, Act)]) {
    play.proxy.set(NetworkFault::Refuse).await;
    play.gateway.until_down("notes").await;
    play.upstream.kill().await;
    play.upstream.start_again().await;
    for (on, act) in orders {
        play.upstream.next(1, on, act.clone()).await;
    }
    play.proxy.heal().await;
}

#[tokio::test]
async fn a_hanging_handshake_is_aborted_and_retried() {
    let mut play = Play::new().await;
    comes_back_with(&mut play, &[("initialize", Act::Hang)]).await;
    play.works("after the hang").await;
}

#[tokio::test]
async fn a_list_that_hangs_after_a_reconnect_is_aborted_and_retried() {
    let mut play = Play::new().await;
    comes_back_with(&mut play, &[("tools/list", Act::Hang)]).await;
    play.works("after the hang").await;
}

#[tokio::test]
async fn a_slow_list_after_a_reconnect_never_shows_as_an_empty_one() {
    let mut play = Play::new().await;
    comes_back_with(&mut play, &[("tools/list", Act::Wait { millis: 3000 })]).await;
    let listed = play.editor.ask("tools/list", &json!({})).await;
    assert_eq!(listed["tools"].as_array().unwrap().len(), 4, "{listed}");
    play.works("after").await;
}

#[tokio::test]
async fn an_upstream_that_never_answers_its_handshake_keeps_no_editor_waiting() {
    let mut play = Play::with("hold = 2", "").await;
    play.upstream.always("initialize", Act::Hang).await;
    play.proxy.set(NetworkFault::Refuse).await;
    play.gateway.until_down("notes").await;
    play.proxy.heal().await;
    let answer = play.record("never").await;
    assert!(is_not_sent(&answer), "{answer:?}");
    let (mut another, took) = timed(play.gateway.editor("/mcp/notes")).await;
    assert!(took < Duration::from_secs(10), "{took:?}");
    let listed = another.ask("tools/list", &json!({})).await;
    assert_eq!(listed["tools"][0]["name"], "record");
}

#[tokio::test]
async fn a_refused_handshake_is_retried_until_it_succeeds() {
    let mut play = Play::new().await;
    for status in [500, 502, 503, 404, 429] {
        comes_back_with(&mut play, &[("initialize", Act::refuse(status))]).await;
        play.works(&format!("after {status}")).await;
    }
}

#[tokio::test]
async fn a_tool_added_by_a_restart_is_listed_and_the_session_continues() {
    let mut play = Play::new().await;
    play.proxy.set(NetworkFault::Refuse).await;
    play.gateway.until_down("notes").await;
    play.upstream.kill().await;
    play.upstream.start_again_with(&["brand_new"]).await;
    play.proxy.heal().await;
    play.gateway.until("notes", |upstream| upstream.tools == 5).await;
    let listed = play.editor.ask("tools/list", &json!({})).await;
    assert_eq!(listed["tools"][4]["name"], "brand_new", "{listed}");
    let answer = play.record("after").await;
    assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
}
