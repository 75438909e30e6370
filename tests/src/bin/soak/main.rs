//! `soak [--minutes N]`: ten editors call six upstreams while everything keeps failing, for hours if wanted.
//!
//! # Theory of operation
//! A real gateway runs with upstreams over streamable HTTP (sessions and stateless), HTTP+SSE and stdio. A
//! supervisor in this process keeps its address open and restarts it, as the tray does. Editors of each kind
//! ([`clients`]) call without a pause, each call with its own nonce. [`faults`] breaks one upstream, its network
//! or the gateway at a time; the upstream `steady` is never broken, and the slowest call to it shows what
//! the others cost it. Each minute the answers are compared with what was executed ([`figures`]) and
//! forgotten, so that the program itself does not grow.
//!
//! The gateway is killed and taken over during the first [`REPLACING`] of the time; the last gateway then runs
//! to the end, so that its memory can be judged. Its resources are measured while the editors rest.
//!
//! It prints the figures and fails if a call was lost, doubled, swapped or not answered, or if the gateway needs
//! more memory or descriptors than before. `SEED=…` repeats the same faults in the same order.

#![expect(clippy::print_stdout, reason = "the figures are the result of this program")]

mod clients;
mod editors;
mod faults;
mod figures;

use std::process::ExitCode;
use std::time::Duration;

use evermoor_client::GatewaySupervisor;
use evermoor_client::launch::Launcher;
use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_platform::paths::Paths;
use evermoor_tests::Scene;
use evermoor_tests::fakes::program::Program;
use evermoor_tests::fakes::single_version::upstream::{FakeTransport, SingleVersionUpstream};
use evermoor_tests::network::proxy::Proxy;
use evermoor_tests::oracle::measure;
use evermoor_tests::oracle::random::Dice;
use evermoor_tests::scene::entry;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use editors::{SoakEditors, UPSTREAMS};
use faults::{Breakable, BreakableGateway};
use figures::{Figures, LedgerComparison, Resources};

const USAGE: &str = "soak [--minutes N]: how long it runs; 60 minutes by default";
/// How long calls are held, and how long one may take: short, so that every limit is reached often.
const SETTINGS: &str = "hold = 2";
const CALL_TIMEOUT: &str = "call_timeout = 5\n";
/// How often answers are compared with the ledgers.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// How long the editors call before the first fault.
const WARM_UP: Duration = Duration::from_secs(10);
/// Until when the gateway is killed and taken over, and when the last one is warm, as parts of the time.
const REPLACING: f64 = 0.4;
const WARM: f64 = 0.6;
/// How many faults are of the gateway: one of this many.
const GATEWAY_FAULTS: u64 = 20;
/// Idle connections and buffers are given back within this time.
const REST: Duration = Duration::from_secs(10);
/// How long the supervisor's tasks may take to end.
const LAST_TASKS: Duration = Duration::from_secs(10);

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
    let mut gateway = scene.gateway_of(SETTINGS, &entries).await;
    for name in UPSTREAMS {
        gateway.until_connected(name).await;
    }
    let ledgers = UPSTREAMS.map(|name| scene.path(&format!("{name}.ledger")));
    let mut comparison = LedgerComparison::of(ledgers);
    let mut broken = [
        Breakable::Scripted(first, first_network),
        Breakable::Scripted(second, second_network),
        Breakable::SingleVersionUpstream(stateless),
        Breakable::SingleVersionUpstream(events),
        Breakable::Program(program),
    ];

    let paths = Paths::find(Some(scene.home())).expect("a home has paths");
    let launcher = Launcher::new(scene.evermoor(), Some(scene.home()), paths);
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let _supervisor = GatewaySupervisor::start(launcher.clone(), &tasks, stop.clone());
    let mut breakable = BreakableGateway::of(scene.home(), launcher);
    // From now on every gateway is started in the same way, so that their resources can be compared.
    breakable.take_over().await;
    gateway.process.ended().await;
    let mut editors = SoakEditors::attach(&gateway).await;
    sleep(WARM_UP).await;
    comparison.figures.at_start = measured_at_rest(&editors, &breakable).await;

    let (began, mut checked) = (Instant::now(), Instant::now());
    while began.elapsed() < length {
        let replacing = began.elapsed() < length.mul_f64(REPLACING);
        if replacing && dice.roll().is_multiple_of(GATEWAY_FAULTS) {
            breakable.break_once(&mut dice).await;
        } else {
            let place = usize::try_from(dice.roll() % broken.len() as u64).expect("a small number");
            broken[place].break_once(&mut dice).await;
        }
        comparison.figures.faults += 1;
        if comparison.figures.warm.is_none() && began.elapsed() >= length.mul_f64(WARM) {
            comparison.figures.warm = measured_at_rest(&editors, &breakable).await;
        }
        if checked.elapsed() >= CHECK_INTERVAL {
            checked = Instant::now();
            let calls = editors.ended_calls();
            comparison.compare(&calls, &breakable.kills, &breakable.takeovers);
        }
    }
    let Some(resting) = editors.rest().await else {
        comparison.add_unanswered(1, "a call did not end");
        return comparison.figures;
    };
    breakable.until_all_connected().await;
    sleep(REST).await;
    comparison.figures.at_end = measure::resources(breakable.pid());
    let calls = editors.ended_calls();
    comparison.compare(&calls, &breakable.kills, &breakable.takeovers);
    comparison.add_unanswered(editors.given_up(), "an editor gave up");
    drop((resting, editors));
    let mut figures = comparison.figures;
    figures.kills = breakable.kills.len();
    figures.takeovers = breakable.takeovers.len() / 2;
    figures.not_replaced = breakable.not_replaced;
    stop.cancel();
    tasks.close();
    let _ = timeout(LAST_TASKS, tasks.wait()).await;
    drop(steady);
    figures
}

/// The gateway's resources while the editors rest.
async fn measured_at_rest(editors: &SoakEditors, gateway: &BreakableGateway) -> Option<Resources> {
    let resting = editors.rest().await?;
    gateway.until_all_connected().await;
    sleep(REST).await;
    let resources = measure::resources(gateway.pid());
    drop(resting);
    resources
}
