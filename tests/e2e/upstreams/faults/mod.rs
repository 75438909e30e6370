//! The fault matrix: what breaks, what the editor sees, and what was executed.
//!
//! - [`connections`], [`half_open`]: the network
//! - [`signals`]: killed and frozen processes
//! - [`hanging`]: servers that never answer, or only late
//! - [`handshakes`], [`sessions`], [`statuses`], [`replies`]: servers that answer wrongly
//! - [`many_calls`]: too many calls

mod connections;
mod half_open;
mod handshakes;
mod hanging;
mod many_calls;
mod replies;
mod sessions;
mod signals;
mod statuses;

use std::time::Duration;

use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::editor::answer::{CallAnswer, Verdict};
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::network::proxy::Proxy;
use evermoor_tests::oracle;
use tokio::time::Instant;

/// An upstream, a proxy that can break its connections, a gateway, and an editor with a session.
struct Play {
    upstream: Upstream,
    proxy: Proxy,
    gateway: Gateway,
    editor: Editor,
    _scene: Scene,
}

impl Play {
    async fn new() -> Self {
        Self::with("", "").await
    }

    /// With settings for the gateway and the upstream.
    async fn with(gateway: &str, upstream: &str) -> Self {
        Self::start(gateway, upstream, true).await
    }

    /// Without the proxy: the gateway connects to the upstream's own socket.
    async fn direct(gateway: &str, upstream: &str) -> Self {
        Self::start(gateway, upstream, false).await
    }

    async fn start(settings: &str, upstream_settings: &str, proxied: bool) -> Self {
        let scene = Scene::new();
        let upstream = scene.upstream("notes").await;
        let proxy = Proxy::to(&upstream.url).await;
        let url = if proxied { &proxy.url } else { &upstream.url };
        let gateway = scene.gateway_to(settings, "notes", url, upstream_settings).await;
        gateway.until_connected("notes").await;
        let editor = gateway.editor("/mcp/notes").await;
        Self { upstream, proxy, gateway, editor, _scene: scene }
    }

    /// Calls `record`, which must not be repeated, and checks the answer against the ledger.
    async fn record(&mut self, nonce: &str) -> CallAnswer {
        let answer = self.editor.attempt("record", nonce).await;
        self.check(nonce, &answer);
        answer
    }

    /// Calls `record`, which must succeed.
    async fn works(&mut self, nonce: &str) {
        let answer = self.record(nonce).await;
        assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
    }

    /// Checks an answer against the current ledger.
    fn check(&self, nonce: &str, answer: &CallAnswer) {
        let contradiction =
            oracle::contradiction(nonce, answer, self.upstream.ledger.executions(nonce));
        assert_eq!(contradiction, None);
    }
}

/// The output of a future, and how long it took.
async fn timed<T>(future: impl Future<Output = T>) -> (T, Duration) {
    let began = Instant::now();
    let value = future.await;
    (value, began.elapsed())
}

fn is_unknown(answer: &CallAnswer) -> bool {
    matches!(answer.verdict, Verdict::Unknown { .. })
}

fn is_not_sent(answer: &CallAnswer) -> bool {
    matches!(answer.verdict, Verdict::NotSent { .. })
}
