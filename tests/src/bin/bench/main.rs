//! `npm run bench`: measures what Evermoor costs, next to the least that something in its place can
//! cost, in the same run.
//!
//! | arguments | |
//! |---|---|
//! | none | everything, and writes `docs/performance.md` |
//! | `--quick` | fewer repetitions, prints the table, writes nothing |
//! | `--peers <folder>` | also measures other proxies, installed there by `scripts/bench.mjs` |
//! | `eras`, `load`, `sign-in` | only calls between MCP versions, only many sessions and calls at once, or only what a sign-in costs |
//!
//! - [`args`]: what it is told to do
//! - [`routes`]: the ways to the server; [`program`], [`http`], [`stdio`]: what they are made of
//! - [`cycle`]: one repetition; [`scaling`]: cost against size and number
//! - [`figures`]: what is measured, and the goals; [`report`], [`plot`]: the page
//! - [`eras`], [`load`], [`sign_in`]: the other parts

mod args;
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
mod sign_in;
mod stdio;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use evermoor_platform::process::descriptors;

use args::{Task, USAGE};
use cycle::Effort;
use figures::Results;
use report::Run;
use routes::{Home, Server};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let task = match Task::read(&args) {
        Ok(task) => task,
        Err(mistake) => {
            complain(&format!("{mistake}\n\n{USAGE}"));
            return ExitCode::from(2);
        }
    };
    descriptors::raise_limit();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    match task {
        Task::Help => say(USAGE),
        Task::Eras => runtime.block_on(eras::measure()),
        Task::SignIn => sign_in::measure(),
        Task::Load => runtime.block_on(load::measure()),
        Task::Routes { quick, peers } => measure_routes(quick, peers.as_deref()),
    }
    ExitCode::SUCCESS
}

/// Measures all routes, and writes the page unless this is a quick run.
fn measure_routes(quick: bool, peers: Option<&Path>) {
    let effort = if quick { Effort::quick() } else { Effort::full() };
    let server = Server::start(1);
    let home = Home::with_server(&server);
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
