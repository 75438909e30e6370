//! Half-open connections: the peer is gone, no FIN arrives, and nothing else does either.
//!
//! An event stream is the longest-lived connection, so it is the one most often affected.

use std::time::Duration;

use evermoor_tests::Scene;
use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::fakes::sse_server::EventsServer;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::network::proxy::{NetworkFault, Proxy};
use evermoor_tests::scene::freezing;

use super::is_unknown;

/// A server with an event stream behind a proxy, and a gateway connected to it.
struct Stream {
    server: EventsServer,
    proxy: Proxy,
    gateway: Gateway,
    _scene: Scene,
}

impl Stream {
    async fn new(settings: &str) -> Self {
        let (scene, server) = (Scene::new(), EventsServer::start().await);
        let proxy = Proxy::to(&server.url).await;
        let gateway = scene.gateway_to("", "notes", &proxy.url, settings).await;
        gateway.until_connected("notes").await;
        assert_eq!(server.asked("GET"), 1);
        Self { server, proxy, gateway, _scene: scene }
    }

    async fn works(&self, nonce: &str) {
        let answer = self.gateway.editor("/mcp/notes").await.attempt("record", nonce).await;
        assert_eq!((&answer.verdict, answer.text.as_str()), (&Verdict::Done, nonce), "{answer:?}");
    }
}

#[tokio::test]
async fn a_stream_that_went_silent_is_found_although_nobody_calls() {
    let stream = Stream::new("keepalive_interval = 1").await;
    stream.proxy.set(NetworkFault::HalfOpen).await;
    stream.server.until_asked("GET", 2).await;
    stream.gateway.until_connected("notes").await;
    stream.works("after").await;
}

#[tokio::test]
async fn a_stream_that_went_silent_during_a_call_is_found_and_the_call_is_unknown() {
    let stream = Stream::new("keepalive_interval = 1").await;
    let mut editor = stream.gateway.editor("/mcp/notes").await;
    // A call gets 45 s before its upstream counts as dead.
    editor.patience = Duration::from_secs(75);
    let (answer, ()) = tokio::join!(editor.attempt("hang", "silent"), async {
        stream.server.until_asked("tools/call", 1).await;
        stream.proxy.set(NetworkFault::HalfOpen).await;
    });
    assert!(is_unknown(&answer), "{answer:?}");
    assert_eq!(answer.why(), (-33011, "stalled"), "{answer:?}");
    assert_eq!(stream.server.asked("tools/call"), 1, "it is not repeated");
    stream.works("after").await;
}

/// A stopped process sees the same as one on a sleeping machine: a jump in time, and connections
/// that nobody answers.
#[tokio::test]
async fn after_a_sleep_a_stream_is_checked_and_replaced_once() {
    let stream = Stream::new("").await;
    let pid = stream.gateway.process.pid();
    freezing::freeze(pid);
    stream.proxy.set(NetworkFault::HalfOpen).await;
    // The length of the sleep.
    tokio::time::sleep(Duration::from_secs(8)).await;
    freezing::thaw(pid);
    stream.server.until_asked("GET", 2).await;
    stream.gateway.until_connected("notes").await;
    stream.works("in the morning").await;
    assert_eq!(stream.server.asked("GET"), 2, "one new stream, and no storm");
}
