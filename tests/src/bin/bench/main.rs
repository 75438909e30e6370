//! `npm run bench`: what the gateway costs, side by side with no gateway, in one run. `npm run bench -- eras`
//! measures that part alone.
//!
//! Rounds alternate between the ways, so that whatever else the machine does hits all of them.

mod eras;
mod latency;
mod load;
mod start;

use std::time::Duration;

use evermoor_platform::process::descriptors;
use evermoor_tests::Scene;

#[tokio::main]
async fn main() {
    descriptors::raise_limit();
    // All of it, or the one part that is named.
    let only = std::env::args().nth(1);
    let wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if wanted("start") {
        start::measure().await;
    }
    if wanted("eras") {
        eras::measure().await;
    }
    if wanted("latency") || wanted("load") {
        let scene = Scene::new();
        let upstream = scene.upstream("bench").await;
        let gateway = scene.gateway(&[&upstream]).await;
        gateway.until_connected("bench").await;
        if wanted("latency") {
            latency::measure(&upstream, &gateway).await;
        }
        if wanted("load") {
            load::measure(&upstream, &gateway).await;
        }
    }
}

fn shown(time: Duration) -> String {
    format!("{} µs", time.as_micros())
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
fn say(line: &str) {
    println!("{line}");
}
