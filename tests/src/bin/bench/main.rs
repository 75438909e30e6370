//! `npm run bench`: measures the cost of the gateway against direct connections in the same run.
//! `npm run bench -- eras` runs only that part.
//!
//! Rounds alternate between the routes, so other load on the machine affects all of them equally.
//!
//! `start`, `latency`, `load` and `eras` are the parts: the start, single calls, many calls, and
//! calls between MCP versions.

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
    // Run everything, or only the named part.
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
