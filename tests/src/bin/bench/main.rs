//! `npm run bench`: measures what Evermoor costs, next to the least that something in its place can
//! cost, in the same run.
//!
//! | arguments | |
//! |---|---|
//! | none | everything, and writes `docs/performance.md` |
//! | `--quick` | fewer repetitions, prints the table, writes nothing |
//! | `--peers <folder>` | also measures other proxies, installed there by `scripts/bench.mjs` |
//! | `versions`, `load`, `sign-in` | only calls between MCP versions, many sessions and calls at once, or what a sign-in costs |
//!
//! - [`args`]: what it is told to do
//! - [`routes`]: the ways to the server; [`program`], [`http`], [`stdio`]: what they are made of
//! - [`cycle`]: one repetition; [`scaling`]: cost against size and number
//! - [`figures`]: what is measured, and the goals; [`report`], [`plot`]: the page
//! - [`versions`], [`load`], [`sign_in`]: the other parts

mod args;
mod cycle;
mod figures;
mod http;
mod load;
mod plot;
mod program;
mod report;
mod routes;
mod scaling;
mod sign_in;
mod stdio;
mod versions;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use evermoor_platform::process::descriptors;

use args::{BenchTask, USAGE};
use cycle::Effort;
use figures::Results;
use report::Run;
use routes::{BenchHome, BenchServer};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let task = match BenchTask::read(&args) {
        Ok(task) => task,
        Err(mistake) => {
            complain(&format!("{mistake}\n\n{USAGE}"));
            return ExitCode::from(2);
        }
    };
    descriptors::raise_limit();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    match task {
        BenchTask::Help => say(USAGE),
        BenchTask::Versions => runtime.block_on(versions::measure()),
        BenchTask::SignIn => sign_in::measure(),
        BenchTask::Load => runtime.block_on(load::measure()),
        BenchTask::Routes { quick, peers } => measure_routes(quick, peers.as_deref()),
    }
    ExitCode::SUCCESS
}

/// Measures all routes, and writes the page unless this is a quick run.
fn measure_routes(quick: bool, peers: Option<&Path>) {
    let effort = if quick { Effort::quick() } else { Effort::full() };
    let server = BenchServer::start(1);
    let home = BenchHome::with_server(&server);
    let mut results = Results::default();
    for repetition in 1..=effort.repetitions {
        say(&format!("repetition {repetition} of {}", effort.repetitions));
        cycle::run(&server, &home, peers, effort, &mut results);
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

#[expect(clippy::print_stderr, reason = "a benchmark says why it measures nothing")]
fn complain(line: &str) {
    eprintln!("{line}");
}
