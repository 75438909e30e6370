//! Time from starting the gateway to the first answer.

use evermoor_tests::Scene;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::oracle::measure;
use serde_json::json;
use tokio::time::Instant;

use crate::{say, shown};

const ROUNDS: usize = 10;

pub(crate) async fn measure() {
    let scene = Scene::new();
    let upstream = scene.upstream("bench").await;
    scene.configure("", &[&upstream]);
    let (mut listening, mut answered) = (Vec::new(), Vec::new());
    let mut idle = None;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let gateway = Gateway::start(&scene.home()).await;
        listening.push(began.elapsed());
        gateway.editor("/mcp/bench").await.call("mirror", &json!({ "text": "x" })).await;
        answered.push(began.elapsed());
        idle = measure::memory(gateway.process.pid());
    }
    for (label, mut times) in
        [("start to listening", listening), ("start to the first answer", answered)]
    {
        times.sort_unstable();
        let (half, longest) = (times[ROUNDS / 2], times[ROUNDS - 1]);
        say(&format!("{label:<28} p50 {:>9}  longest {:>9}", shown(half), shown(longest)));
    }
    say(&format!("gateway at rest              {} KiB", idle.unwrap_or_default()));
}
