//! What is wanted takes effect at once, whatever the server does.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use evermoor_core::config::Config;
use evermoor_core::protocol::mcp::method;

use super::server::{Server, call};
use crate::upstream::{LinkState, UpstreamHandle};

/// A connected upstream whose server does not answer the list that is being read again.
async fn reading_lists() -> (Server, UpstreamHandle) {
    let server = Server::new();
    let handle = server.connected().await;
    server.stop_answering(method::TOOLS_LIST);
    server.change_tool();
    server.until_listed(2).await;
    (server, handle)
}

#[tokio::test(start_paused = true)]
async fn a_pause_takes_effect_at_once_while_the_lists_are_read_again() {
    let (_server, handle) = reading_lists().await;
    let began = Instant::now();
    handle.set_paused(true);
    handle.until_paused(true).await;
    assert!(handle.is_paused());
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_connection_stands_aside_at_once_while_the_lists_are_read_again() {
    let (server, handle) = reading_lists().await;
    let began = Instant::now();
    handle.set_stand_aside(true);
    handle.until_not_ready().await;
    assert!(!handle.is_ready(), "no call is sent to an application that is about to restart");
    assert_eq!(began.elapsed(), Duration::ZERO);
    server.answer_everything();
    handle.set_stand_aside(false);
    handle.until_ready().await;
    assert_eq!(server.connects(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_new_transport_and_a_restart_take_effect_at_once_while_the_lists_are_read_again() {
    let (server, handle) = reading_lists().await;
    server.answer_everything();
    let began = Instant::now();
    handle.restart();
    let mut state = handle.state.clone();
    let second = state
        .wait_for(|state| matches!(&state.link, LinkState::Ready(ready) if ready.generation == 2));
    drop(second.await.unwrap());
    let moved = Config::parse("[upstreams.a]\nurl = \"http://127.0.0.1:2/mcp\"\n").unwrap();
    let handle = handle.configure(moved.upstreams[0].clone(), None).await;
    handle.until_ready().await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(server.connects(), 3);
}

#[tokio::test(start_paused = true)]
async fn lists_that_change_while_they_are_read_are_read_once_more() {
    let server = Server::new();
    let handle = server.connected().await;
    server.stop_answering(method::TOOLS_LIST);
    server.change_tool();
    server.until_listed(2).await;
    server.answer_everything();
    for _ in 0..3 {
        server.change_tool();
    }
    // The second read has no answer; the third begins when it is given up.
    handle.until_tool("tool-4").await;
    assert_eq!((server.lists(), server.connects()), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_restart_during_a_pause_does_nothing_and_the_last_wish_counts() {
    let server = Server::new();
    let handle = server.connected().await;
    for paused in [true, false, true] {
        handle.set_paused(paused);
    }
    handle.until_paused(true).await;
    handle.restart();
    sleep(Duration::from_secs(60)).await;
    assert!(handle.is_paused());
    assert_eq!(server.connects(), 1);
    handle.set_paused(false);
    handle.until_ready().await;
    assert_eq!(server.connects(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_stall_keeps_the_time_at_which_it_began() {
    let server = Server::new();
    let handle = server.connected().await;
    server.stop_answering(method::TOOLS_CALL);
    server.stop_answering(method::PING);
    let LinkState::Ready(ready) = handle.state().link else { panic!("it is connected") };
    let request = call();
    let watching = async {
        sleep(Duration::from_secs(21)).await;
        let first = ready.stalled().expect("a missed ping").since;
        sleep(Duration::from_secs(15)).await;
        assert_eq!(ready.stalled().expect("it still stalls").since, first);
    };
    let called = timeout(Duration::from_secs(37), handle.call(&request, None));
    let (called, ()) = tokio::join!(called, watching);
    assert!(called.is_err(), "the call is not given up yet");
}
