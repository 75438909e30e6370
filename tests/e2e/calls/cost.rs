//! How many instructions the gateway needs for one call. Unlike a time, this is nearly the same on
//! every run, so a change that makes calls more expensive is noticed.
//!
//! The gateway runs under callgrind twice, with few calls and with many. The difference is what
//! the calls cost, without the start and the end of the process.

use std::path::Path;
use std::process::Stdio;

use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::scene::programs::{Process, built, person};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// The figure of this commit, for the programs that the tests start.
const COMMITTED: u64 = include!("instructions_per_call.in");
const FEW: u64 = 20;
const MANY: u64 = 120;

/// The instructions of a gateway that answers this many calls.
async fn instructions(calls: u64) -> u64 {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    scene.configure("", &[&upstream]);
    let (home, counts) = (scene.home(), scene.path("counts"));
    let process = Process::start(Path::new("valgrind"), |command| {
        command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", counts.display()));
        command.arg(built("evermoor")).args(["serve", "--home"]).arg(&home);
        command.env("HOME", person(&home)).stderr(Stdio::null());
    });
    let mut gateway = Gateway::started(process, &home).await;
    gateway.until_connected("notes").await;
    let mut editor = Editor::over_http(&gateway.origin, "/mcp/notes", &gateway.token()).await;
    for _ in 0..calls {
        editor.call("mirror", &json!({ "text": "x" })).await;
    }
    let pid = Pid::from_raw(i32::try_from(gateway.process.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert!(gateway.process.ended().await.success());
    let counts = std::fs::read_to_string(counts).expect("callgrind wrote what it counted");
    let total = counts.lines().find_map(|line| line.strip_prefix("totals: "));
    total.and_then(|total| total.trim().parse().ok()).expect("callgrind wrote a total")
}

#[tokio::test]
async fn a_call_costs_at_most_a_tenth_more_instructions_than_the_committed_figure() {
    let (few, many) = tokio::join!(instructions(FEW), instructions(MANY));
    let each = many.saturating_sub(few) / (MANY - FEW);
    assert!(
        each <= COMMITTED + COMMITTED / 10,
        "a call costs {each} instructions, {} % more than the committed {COMMITTED}. Find out why with \
         `valgrind --tool=callgrind`. If the change is worth it, write {each} to \
         tests/e2e/calls/instructions_per_call.in and say why in the commit.",
        (each * 100 / COMMITTED).saturating_sub(100),
    );
    let much_less = each < COMMITTED / 2;
    assert!(
        !much_less,
        "a call costs only {each} instructions: write that to tests/e2e/calls/instructions_per_call.in"
    );
}
