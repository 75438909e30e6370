//! Latency of single calls in three sizes over each route, and throughput of concurrent calls.

use std::time::Duration;

use evermoor_tests::editor::Editor;
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::gateway::Gateway;
use serde_json::json;
use tokio::time::Instant;

use crate::{say, shown};

const ROUNDS: usize = 10;

pub(crate) async fn measure(upstream: &Upstream, gateway: &Gateway) {
    let direct = upstream.url.trim_end_matches("/mcp").to_owned();
    for (label, size, calls) in
        [("100 B", 100, 300), ("10 KB", 10_000, 150), ("1 MB", 1_000_000, 10)]
    {
        let text = "x".repeat(size);
        let mut ways = [
            ("direct", Editor::over_http(&direct, "/mcp", "none").await),
            ("HTTP", gateway.editor("/mcp/bench").await),
            ("shim", gateway.editor_over_shim(Some("bench")).await),
        ];
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..ROUNDS {
            for ((_, editor), times) in ways.iter_mut().zip(&mut times) {
                times.extend(calls_of(editor, &text, calls).await);
            }
        }
        for ((way, _), times) in ways.iter().zip(&mut times) {
            times.sort_unstable();
            let at = |share: f64| shown(times[((times.len() - 1) as f64 * share) as usize]);
            say(&format!(
                "{label:>6} {way:<8} p50 {:>9}  p95 {:>9}  p99 {:>9}",
                at(0.50),
                at(0.95),
                at(0.99)
            ));
        }
    }
    for concurrency in [1, 16, 64] {
        let (straight, through) = (
            throughput(&direct, "/mcp", "none", concurrency, 8000).await,
            throughput(&gateway.origin, "/mcp/bench", &gateway.token(), concurrency, 8000).await,
        );
        say(&format!(
            "{concurrency:>6} at once: direct {straight:>7.0}/s  through {through:>7.0}/s"
        ));
    }
}

/// Small calls answered per second.
pub(crate) async fn throughput(
    origin: &str,
    path: &str,
    token: &str,
    concurrency: usize,
    calls: usize,
) -> f64 {
    let mut editors = Vec::new();
    for _ in 0..concurrency {
        editors.push(Editor::over_http(origin, path, token).await);
    }
    let began = Instant::now();
    let mut running = tokio::task::JoinSet::new();
    for mut editor in editors {
        running.spawn(async move { calls_of(&mut editor, "x", calls / concurrency).await });
    }
    running.join_all().await;
    calls as f64 / began.elapsed().as_secs_f64()
}

async fn calls_of(editor: &mut Editor, text: &str, calls: usize) -> Vec<Duration> {
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        let began = Instant::now();
        editor.call("mirror", &json!({ "text": text })).await;
        times.push(began.elapsed());
    }
    times
}
