//! `soak [--minutes N]`: ten editors call six upstreams while everything keeps failing, for hours if wanted.
//!
//! # Theory of operation
//! A real gateway runs with upstreams over streamable HTTP (sessions and stateless), HTTP+SSE and stdio.
//! Editors of each kind call them without a pause, each call with its own nonce. [`faults`] breaks one
//! upstream or its network at a time; the upstream `steady` is never broken, and the slowest call to it
//! shows what the others cost it. Each minute the answers are compared with what was executed, as the
//! oracle's rules say, and forgotten, so that the program itself does not grow.
//!
//! It prints one line with the figures and fails if a call was lost, doubled, swapped or not answered.
//! `SEED=…` repeats the same faults in the same order.

#![expect(clippy::print_stdout, reason = "the figures are the result of this program")]

mod editors;
mod faults;

use std::process::ExitCode;
use std::time::Duration;

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_tests::Scene;
use evermoor_tests::fakes::program::Program;
use evermoor_tests::fakes::single_version::upstream::{FakeTransport, SingleVersionUpstream};
use evermoor_tests::network::proxy::Proxy;
use evermoor_tests::oracle::measure;
use evermoor_tests::oracle::random::Dice;
use evermoor_tests::scene::entry;
use tokio::time::{Instant, sleep, timeout};

use editors::{Figures, SoakEditors};
use faults::Breakable;

const USAGE: &str = "soak [--minutes N]: how long it runs; 60 minutes by default";
/// How long calls are held, and how long one may take: short, so that every limit is reached often.
const SETTINGS: &str = "hold = 2";
const CALL_TIMEOUT: &str = "call_timeout = 5\n";
/// How often answers are compared with the ledgers.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// How long the gateway runs before its resources are measured for the first time.
const WARM_UP: Duration = Duration::from_secs(30);
/// How long the last calls may take.
const LAST_CALLS: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> ExitCode {
    let Some(length) = length(std::env::args().skip(1)) else {
        println!("{USAGE}");
        return ExitCode::from(2);
    };
    let seed = Dice::seed();
    println!("SEED={seed}, {} minutes", length.as_secs() / 60);
    let figures = soak(length, Dice::new(seed)).await;
    println!("{figures}");
    if figures.are_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn length(mut args: impl Iterator<Item = String>) -> Option<Duration> {
    let minutes = match (args.next().as_deref(), args.next()) {
        (None, _) => 60,
        (Some("--minutes"), Some(minutes)) => minutes.parse().ok()?,
        (Some(_), _) => return None,
    };
    Some(Duration::from_secs(minutes * 60))
}

async fn soak(length: Duration, mut dice: Dice) -> Figures {
    let scene = Scene::new();
    let (steady, first, second) = (
        scene.upstream("steady").await,
        scene.upstream("first").await,
        scene.upstream("second").await,
    );
    let first_network = Proxy::to(&first.url).await;
    let second_network = Proxy::to(&second.url).await;
    let stateless = SingleVersionUpstream::start(
        &scene,
        "stateless",
        ProtocolVersion::Stateless,
        FakeTransport::Http,
    )
    .await;
    let oldest = ProtocolVersion::Session(SessionVersion::V2024_11_05);
    let events = SingleVersionUpstream::start(&scene, "events", oldest, FakeTransport::Sse).await;
    let program = Program::new("program", scene.path("program.ledger"), &[]);
    let entries = [
        entry::at("steady", &steady.url),
        entry::at("first", &first_network.url),
        entry::at("second", &second_network.url),
        stateless.entry(),
        events.entry(),
        program.entry(),
    ]
    .map(|entry| entry + CALL_TIMEOUT)
    .concat();
    let gateway = scene.gateway_of(SETTINGS, &entries).await;
    for name in ["steady", "first", "second", "stateless", "events", "program"] {
        gateway.until_connected(name).await;
    }
    let ledgers = [
        steady.ledger.clone(),
        first.ledger.clone(),
        second.ledger.clone(),
        stateless.ledger.clone(),
        events.ledger.clone(),
        program.ledger.clone(),
    ];
    let mut editors = SoakEditors::attach(&gateway, ledgers).await;
    let mut broken = [
        Breakable::Scripted(first, first_network),
        Breakable::Scripted(second, second_network),
        Breakable::SingleVersionUpstream(stateless),
        Breakable::SingleVersionUpstream(events),
        Breakable::Program(program),
    ];

    let began = Instant::now();
    let (mut faults, mut at_start, mut checked) = (0, None, Instant::now());
    while began.elapsed() < length {
        let place = usize::try_from(dice.roll() % broken.len() as u64).expect("a small number");
        broken[place].break_once(&mut dice).await;
        faults += 1;
        if at_start.is_none() && began.elapsed() >= WARM_UP.min(length / 2) {
            at_start = Some(measure::resources(gateway.process.pid()));
        }
        if checked.elapsed() >= CHECK_INTERVAL {
            checked = Instant::now();
            editors.check();
        }
    }
    let ended = timeout(LAST_CALLS, editors.stop()).await.is_ok();
    // Idle connections and buffers are given back within seconds.
    sleep(Duration::from_secs(10).min(length / 2)).await;
    let mut figures = editors.figures();
    figures.faults = faults;
    figures.unanswered += usize::from(!ended);
    figures.at_start = at_start.flatten();
    figures.at_end = measure::resources(gateway.process.pid());
    drop(steady);
    figures
}
