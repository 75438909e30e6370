//! `npm run bench`: what the gateway costs, side by side with no gateway, in one run.
//!
//! Rounds alternate between the ways, so that whatever else the machine does hits all of them.

mod latency;
mod load;
mod start;

use std::time::Duration;

use evermoor_platform::descriptors;
use evermoor_tests::Scene;

#[tokio::main]
async fn main() {
    descriptors::raise_limit();
    start::measure().await;
    let scene = Scene::new();
    let upstream = scene.upstream("bench").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("bench").await;
    latency::measure(&upstream, &gateway).await;
    load::measure(&upstream, &gateway).await;
}

fn shown(time: Duration) -> String {
    format!("{} µs", time.as_micros())
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
fn say(line: &str) {
    println!("{line}");
}
