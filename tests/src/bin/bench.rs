//! `npm run bench`: what the gateway costs, side by side with no gateway, in one run.
//!
//! Rounds alternate between the two ways, so that whatever else the machine does hits both.

use std::path::Path;
use std::time::Duration;

use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::gateway::Gateway;
use serde_json::json;
use tokio::time::Instant;

const ROUNDS: usize = 10;

#[tokio::main]
async fn main() {
    let scene = Scene::new();
    let upstream = scene.upstream("bench").await;
    let began = Instant::now();
    let gateway = scene.gateway(&[&upstream]).await;
    say(&format!("start to listening            {:>9}", shown(began.elapsed())));
    gateway.until_connected("bench").await;
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
                times.extend(latencies(editor, &text, calls).await);
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
            throughput(&direct, "/mcp", "none", concurrency).await,
            throughput(&gateway.origin, "/mcp/bench", &gateway.token(), concurrency).await,
        );
        say(&format!(
            "{concurrency:>6} at once: direct {straight:>7.0}/s  through {through:>7.0}/s"
        ));
    }
    memory(&gateway);
}

async fn latencies(editor: &mut Editor, text: &str, calls: usize) -> Vec<Duration> {
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        let began = Instant::now();
        editor.call("mirror", &json!({ "text": text })).await;
        times.push(began.elapsed());
    }
    times
}

async fn throughput(origin: &str, path: &str, token: &str, concurrency: usize) -> f64 {
    const CALLS: usize = 8000;
    let mut editors = Vec::new();
    for _ in 0..concurrency {
        editors.push(Editor::over_http(origin, path, token).await);
    }
    let began = Instant::now();
    let mut running = tokio::task::JoinSet::new();
    for mut editor in editors {
        running.spawn(async move { latencies(&mut editor, "x", CALLS / concurrency).await });
    }
    running.join_all().await;
    CALLS as f64 / began.elapsed().as_secs_f64()
}

fn memory(gateway: &Gateway) {
    let rollup = format!("/proc/{}/smaps_rollup", gateway.process.pid());
    let Ok(rollup) = std::fs::read_to_string(Path::new(&rollup)) else { return };
    let pss = rollup.lines().find(|line| line.starts_with("Pss:")).unwrap_or_default();
    say(&format!(
        "gateway after the run         {}",
        pss.split_whitespace().collect::<Vec<_>>().join(" ")
    ));
}

fn shown(time: Duration) -> String {
    format!("{} µs", time.as_micros())
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
fn say(line: &str) {
    println!("{line}");
}
