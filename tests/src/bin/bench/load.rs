//! Many sessions and many concurrent calls: what they cost, and whether every call is answered.

use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::editor::wire::{Wire, request};
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::oracle::measure;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::say;

const SESSIONS: usize = 1_000;
const AT_ONCE: usize = 10_000;

pub(crate) async fn measure() {
    let scene = Scene::new();
    let upstream = scene.upstream("bench").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("bench").await;
    sessions(&gateway).await;
    at_once(&upstream, &gateway).await;
}

fn memory(gateway: &Gateway) -> u64 {
    measure::memory(gateway.process.pid()).unwrap_or_default()
}

/// Sessions whose editors are disconnected, and sessions whose editors are connected but idle.
async fn sessions(gateway: &Gateway) {
    let before = memory(gateway);
    for _ in 0..SESSIONS {
        let _gone = Wire::to(gateway, "/mcp/bench").initialized("2025-11-25", json!({})).await;
    }
    let each = |now: u64, before: u64| now.saturating_sub(before) * 1024 / SESSIONS as u64;
    let idle = memory(gateway);
    say(&format!("a session at rest             {:>6} bytes", each(idle, before)));
    let mut editors = Vec::new();
    for _ in 0..SESSIONS {
        editors.push(gateway.editor("/mcp/bench").await);
    }
    say(&format!("a session with a connection   {:>6} bytes", each(memory(gateway), idle)));
}

/// The largest possible number of concurrent calls, each over its own connection.
async fn at_once(upstream: &Upstream, gateway: &Gateway) {
    let began = Instant::now();
    let mut joining = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (origin, token) = (gateway.origin.clone(), gateway.token());
        joining.spawn(async move { Editor::over_http(&origin, "/mcp/bench", &token).await });
    }
    let editors = joining.join_all().await;
    say(&format!("{AT_ONCE} editors connected in      {:.1} s", began.elapsed().as_secs_f64()));
    let began = Instant::now();
    let mut calling = JoinSet::new();
    for (number, mut editor) in editors.into_iter().enumerate() {
        calling.spawn(async move {
            let nonce = format!("at once {number}");
            let result = editor.call("record", &json!({ "nonce": nonce })).await;
            assert_eq!(result["content"][0]["text"], nonce.as_str());
            editor
        });
    }
    let editors = calling.join_all().await;
    say(&format!("{AT_ONCE} calls at once answered in {:.1} s", began.elapsed().as_secs_f64()));
    let executed = upstream.ledger.all();
    let once =
        executed.iter().filter(|(nonce, times)| nonce.starts_with("at once") && **times == 1);
    say(&format!("of them executed once         {}", once.count()));
    say(&format!("gateway with all of them      {} KiB", memory(gateway)));
    drop(editors);
    let ping = request(1, "ping", json!({}));
    let after = Wire::to(gateway, "/mcp/bench").initialized("2025-11-25", json!({})).await;
    assert_eq!(after.post(&ping).await.last()["result"], json!({}));
}
