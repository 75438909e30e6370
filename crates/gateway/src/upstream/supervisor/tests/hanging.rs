//! A server that accepts calls and answers none of them, or is only busy.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use evermoor_core::protocol::mcp::method;

use super::server::{Server, call};
use crate::upstream::{CallReply, LinkState, UpstreamHandle};

const PROGRAM: &str = "command = \"x\"";
const LONG: Duration = Duration::from_secs(500);

/// Makes a call, and returns its answer and how long it took.
async fn called(handle: &UpstreamHandle) -> (serde_json::Value, Duration) {
    let (request, began) = (call(), Instant::now());
    let answer = match handle.call(&request, None).await {
        CallReply::Whole(answer) => Some(answer),
        CallReply::Stream(parts) => parts.answer().await,
    };
    let answer = answer.expect("every call is answered");
    let answer: serde_json::Value = serde_json::from_slice(&answer.response.to_bytes()).unwrap();
    (answer["result"].clone(), began.elapsed())
}

fn is_unknown(result: &serde_json::Value) -> bool {
    result["_meta"]["dev.evermoor/outcome"]["code"] == -33011
}

fn hang(server: &Server) {
    server.stop_answering(method::TOOLS_CALL);
    server.stop_answering(method::PING);
}

fn seen_concurrent(handle: &UpstreamHandle) -> Option<bool> {
    handle.state().known.expect("it was connected").concurrent
}

async fn until_seen(handle: &UpstreamHandle, concurrent: bool) {
    let mut state = handle.watch();
    let seen = state.wait_for(|state| {
        state.known.as_ref().is_some_and(|known| known.concurrent == Some(concurrent))
    });
    timeout(LONG, seen).await.expect("it is seen").expect("the supervisor lives");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_ends_as_unknown_within_45_s_and_a_new_connection_is_made() {
    let server = Server::new();
    let handle = server.connected().await;
    hang(&server);
    let (answer, took) = called(&handle).await;
    assert!(is_unknown(&answer), "{answer}");
    assert!(took <= Duration::from_secs(45), "{took:?}");
    server.answer_everything();
    let (answer, _) = called(&handle).await;
    assert_eq!((answer["tools"][0]["name"].as_str(), server.connects()), (Some("tool-0"), 2));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_hangs_stays_open_for_the_time_limit_of_a_call() {
    let server = Server::new();
    let handle = server.connected().await;
    let old = server.inbox();
    hang(&server);
    called(&handle).await;
    let began = Instant::now();
    old.closed().await;
    assert_eq!(began.elapsed().as_secs(), 600);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_answers_after_all_is_not_cut_off_again() {
    let server = Server::new();
    let handle = server.connected().await;
    hang(&server);
    let (answer, _) = called(&handle).await;
    assert!(is_unknown(&answer), "{answer}");
    server.catch_up();
    until_seen(&handle, false).await;
    hang(&server);
    let busy = async {
        server.until_unanswered(method::TOOLS_CALL).await;
        sleep(LONG).await;
        server.catch_up();
    };
    let ((answer, took), ()) = tokio::join!(called(&handle), busy);
    assert_eq!(answer["tools"][0]["name"], "tool-0");
    assert!(took >= LONG);
    assert_eq!(server.connects(), 2, "the connection was kept");
}

#[tokio::test(start_paused = true)]
async fn a_ping_that_is_answered_only_after_the_call_shows_that_a_server_is_serial() {
    let server = Server::new();
    let handle = server.connected().await;
    hang(&server);
    let busy = async {
        server.until_unanswered(method::PING).await;
        sleep(Duration::from_secs(15)).await;
        server.catch_up();
    };
    let ((answer, _), ()) = tokio::join!(called(&handle), busy);
    assert_eq!(answer["tools"][0]["name"], "tool-0");
    until_seen(&handle, false).await;
    assert_eq!(server.connects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_ping_that_is_answered_during_a_call_shows_that_a_program_is_concurrent() {
    let server = Server::new();
    let handle = server.connected_as(PROGRAM).await;
    assert_eq!(seen_concurrent(&handle), None);
    server.stop_answering(method::TOOLS_CALL);
    let calling = called(&handle);
    let hanging = async {
        until_seen(&handle, true).await;
        let began = Instant::now();
        hang(&server);
        began
    };
    let ((answer, _), hung) = tokio::join!(calling, hanging);
    assert!(is_unknown(&answer), "{answer}");
    assert!(hung.elapsed() <= Duration::from_secs(45), "{:?}", hung.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_program_that_may_be_busy_is_not_cut_off() {
    for settings in [PROGRAM, "url = \"http://127.0.0.1:1/mcp\"\nconcurrent = false"] {
        let server = Server::new();
        let handle = server.connected_as(settings).await;
        hang(&server);
        let busy = async {
            server.until_unanswered(method::PING).await;
            sleep(LONG).await;
            let LinkState::Ready(ready) = handle.state().link else { panic!("it is connected") };
            assert!(ready.stalled().is_some(), "it is shown as not responding");
            server.catch_up();
        };
        let ((answer, _), ()) = tokio::join!(called(&handle), busy);
        assert_eq!(answer["tools"][0]["name"], "tool-0");
        assert_eq!(server.connects(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn progress_counts_as_life() {
    let server = Server::new();
    let handle = server.connected().await;
    hang(&server);
    let working = async {
        server.until_unanswered(method::TOOLS_CALL).await;
        for _ in 0..10 {
            sleep(Duration::from_secs(30)).await;
            server.report_progress();
        }
        Instant::now()
    };
    let ((answer, _), last) = tokio::join!(called(&handle), working);
    assert!(is_unknown(&answer), "{answer}");
    let silent = last.elapsed();
    assert!((30..=45).contains(&silent.as_secs()), "{silent:?}");
}
