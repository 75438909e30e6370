//! After a wake-up the gateway checks every connection.

use std::time::Duration;

use evermoor_core::api::{Status, UpstreamState, UpstreamStatus};
use evermoor_platform::clock;
use evermoor_tests::Scene;
use evermoor_tests::fakes::logind::Logind;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::network::proxy::{NetworkFault, Proxy};
use evermoor_tests::scene::entry;
use serde_json::json;

fn since(upstream: &UpstreamStatus) -> Option<u64> {
    match upstream.link {
        UpstreamState::Connected { since, .. } => Some(since),
        UpstreamState::Off
        | UpstreamState::Connecting
        | UpstreamState::Down { .. }
        | UpstreamState::Paused { .. } => None,
    }
}

#[tokio::test]
async fn a_connection_that_died_during_sleep_is_replaced_on_wake_up() {
    let scene = Scene::new();
    let (notes, logind) =
        (scene.upstream("notes").await, Logind::start(&scene.path("logind")).await);
    let proxy = Proxy::to(&notes.url).await;
    // Without keepalives, only the wake-up makes the gateway ping.
    scene.write("", &(entry::at("notes", &proxy.url) + "keepalive_interval = 0\n"));
    let gateway = Gateway::start_among(&scene.home(), &[logind.variable()]).await;
    let before = since(&gateway.until_connected("notes").await);
    assert_eq!(gateway.status().await.muted_until, None);
    let mut editor = gateway.editor("/mcp/notes").await;
    proxy.set(NetworkFault::HalfOpen).await;

    let asleep = clock::unix_millis();
    let woke = |status: &Status| status.muted_until.is_some();
    let status = logind.wakes(gateway.until_status(woke)).await;
    let muted = Duration::from_millis(status.muted_until.unwrap() - asleep);
    assert!((45..75).contains(&muted.as_secs()), "nobody is disturbed for 45 s, not {muted:?}");
    gateway.until("notes", |one| since(one).is_some_and(|since| Some(since) != before)).await;
    editor.call("record", &json!({ "nonce": "awake" })).await;
    assert_eq!(notes.ledger.executions("awake"), 1);
}
