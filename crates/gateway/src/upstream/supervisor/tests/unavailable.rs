//! What editors get while a server is slow, stalled or away.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::first_list::ListHabits;
use evermoor_core::protocol::envelope::{Id, Request};
use evermoor_core::protocol::mcp::method;

use super::server::{Server, call};
use super::{Connect, Connected, start};
use crate::upstream::{CallReply, LinkState, UpstreamHandle};

/// Asks for the tools as an editor does, and returns the name of the first and how long it took.
async fn list(handle: &UpstreamHandle) -> (String, Duration) {
    let request = Request::new(Id::number(1), method::TOOLS_LIST, None);
    let began = Instant::now();
    let answer = json(handle.answer(&request, None).await);
    (answer["result"]["tools"][0]["name"].as_str().unwrap().to_owned(), began.elapsed())
}

fn json(reply: CallReply) -> serde_json::Value {
    let CallReply::Whole(answer) = reply else { panic!("one answer") };
    serde_json::from_slice(&answer.response.to_bytes()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_known_list_is_answered_at_once_while_the_server_is_away() {
    let server = Server::new();
    let handle = server.connected().await;
    server.refuse(Code::ConnectionRefused);
    handle.until_down().await;
    assert_eq!(list(&handle).await, ("tool-0".into(), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_known_list_is_answered_at_once_when_the_server_goes_away_while_it_is_read() {
    let server = Server::new();
    let handle = server.connected().await;
    server.stop_answering(method::TOOLS_LIST);
    let breaking = async {
        server.until_listed(2).await;
        server.refuse(Code::ConnectionRefused);
    };
    let (listed, ()) = tokio::join!(list(&handle), breaking);
    assert_eq!(listed, ("tool-0".into(), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_known_list_is_answered_at_once_while_the_server_stalls() {
    let server = Server::new();
    let handle = server.connected().await;
    for method in [method::TOOLS_CALL, method::TOOLS_LIST, method::PING] {
        server.stop_answering(method);
    }
    let LinkState::Ready(ready) = handle.state().link else { panic!("it is connected") };
    let request = call();
    let listing = async {
        sleep(Duration::from_secs(21)).await;
        assert!(ready.stalled().is_some(), "a ping during the call had no answer");
        assert_eq!(list(&handle).await, ("tool-0".into(), Duration::ZERO));
    };
    let calling = timeout(Duration::from_secs(22), handle.call(&request, None));
    let (called, ()) = tokio::join!(calling, listing);
    assert!(called.is_err(), "the call still waits");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_takes_longer_than_a_second_is_read_on_and_its_changes_are_published() {
    let server = Server::new();
    let handle = server.connected().await;
    assert_eq!(list(&handle).await, ("tool-0".into(), Duration::ZERO), "a quick server is asked");
    server.stop_answering(method::TOOLS_LIST);
    server.change_tool_silently();
    assert_eq!(list(&handle).await, ("tool-0".into(), Duration::from_secs(1)));
    server.answer_everything();
    handle.until_tool("tool-1").await;
    assert_eq!(server.connects(), 1);
}

#[tokio::test(start_paused = true)]
async fn frequent_lists_do_not_hide_that_a_server_hangs() {
    let server = Server::new();
    let handle = server.connected().await;
    server.stop_answering(method::TOOLS_LIST);
    server.stop_answering(method::PING);
    let listing = async {
        loop {
            list(&handle).await;
            sleep(Duration::from_secs(1)).await;
        }
    };
    tokio::select! {
        noticed = timeout(Duration::from_secs(45), handle.until_down()) => noticed.unwrap(),
        () = listing => {}
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_to_a_server_that_needs_sign_in_is_answered_at_once() {
    let server = Server::new();
    let handle = server.connected().await;
    server.refuse(Code::AuthRequired);
    handle.until_down().await;
    let began = Instant::now();
    let answer = json(handle.call(&call(), None).await);
    let details = &answer["result"]["_meta"]["dev.evermoor/outcome"];
    assert_eq!((&details["code"], &details["sent"]), (&(-33004).into(), &false.into()), "{answer}");
    assert_eq!(began.elapsed(), Duration::ZERO);
}

/// A server that never finishes its start, or refuses connections.
struct NeverSeen {
    starts: bool,
}

impl Connect for NeverSeen {
    async fn connect(&mut self) -> Result<Connected, Failure> {
        if self.starts {
            std::future::pending::<()>().await;
        }
        Err(Failure::new(Code::ConnectionRefused, "Connection refused.", "Wait."))
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_list_of_a_server_waits_while_it_starts_for_a_client_that_reads_it_only_once() {
    let once = ListHabits { rereads: false, start_limit: Duration::from_secs(60) };
    let again = ListHabits { rereads: true, ..once };
    for (starts, habits, expected) in
        [(true, once, 58_000), (true, again, 1500), (false, once, 1500), (false, again, 1500)]
    {
        let handle = start(NeverSeen { starts });
        let began = Instant::now();
        let wait = |outlook| habits.longest_wait(outlook, Duration::ZERO);
        assert_eq!(handle.first_known(wait).await, None);
        assert_eq!(began.elapsed().as_millis(), expected, "{starts} {habits:?}");
    }
}
