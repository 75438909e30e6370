//! `npm run bench`: measures what Evermoor costs, next to the least that something in its place can
//! cost, in the same run.
//!
//! | arguments | |
//! |---|---|
//! | none | everything, and writes `docs/performance.md` |
//! | `--quick` | fewer repetitions, prints the table, writes nothing |
//! | `--peers <folder>` | also measures other proxies, installed there by `scripts/bench.mjs` |
//! | `eras`, `load` | only calls between MCP versions, or only many sessions and calls at once |
//!
//! - [`routes`]: the ways to the server; [`program`], [`http`], [`stdio`]: what they are made of
//! - [`cycle`]: one repetition; [`scaling`]: cost against size and number
//! - [`figures`]: what is measured, and the goals; [`report`], [`plot`]: the page
//! - [`eras`], [`load`]: the other parts

mod cycle;
mod eras;
mod figures;
mod http;
mod load;
mod plot;
mod program;
mod report;
mod routes;
mod scaling;
mod stdio;

use std::path::PathBuf;
use std::time::Duration;

use evermoor_platform::process::descriptors;

use cycle::Effort;
use figures::Results;
use report::Run;
use routes::{Home, Server};

fn main() {
    descriptors::raise_limit();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| args.iter().skip_while(|arg| *arg != name).nth(1);
    let peers = after("--peers").map(PathBuf::from);
    let quick = args.iter().any(|arg| arg == "--quick");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    if args.iter().any(|arg| arg == "eras") {
        return runtime.block_on(eras::measure());
    }
    if args.iter().any(|arg| arg == "load") {
        return runtime.block_on(load::measure());
    }
    let effort = if quick { Effort::quick() } else { Effort::full() };
    let server = Server::start(1);
    let home = Home::with_server(&server);
    let mut results = Results::default();
    for repetition in 1..=effort.repetitions {
        say(&format!("repetition {repetition} of {}", effort.repetitions));
        cycle::run(&server, &home, peers.as_deref(), effort, &mut results);
    }
    say(&report::tables(&results));
    if quick {
        return;
    }
    say("payload, sessions, servers and tools");
    let curves = scaling::measure(1000);
    let (repetitions, rest) = (effort.repetitions, effort.rest.as_secs());
    let run = Run { repetitions, rest, machine: report::machine() };
    let page = report::write(&results, &curves, &run).expect("the page can be written");
    say(&format!("written to {}", page.display()));
}

fn shown(time: Duration) -> String {
    format!("{} µs", time.as_micros())
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
fn say(line: &str) {
    println!("{line}");
}
