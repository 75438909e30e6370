//! `app-watching [ROUNDS] [IDLE SECONDS]`: how fast the gateway follows and restarts an
//! application, and what watching it costs.

use std::time::Duration;

use evermoor_core::api::{AppStatus, UpstreamState};
use evermoor_core::history::incident::Incident;
use evermoor_platform::clock;
use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::fakes::pieces::{Fault, Pieces};
use evermoor_tests::gateway::Gateway;
use evermoor_tests::oracle::measure;
use http::Method;
use serde_json::json;
use tokio::time::{Instant, sleep};

#[tokio::main]
async fn main() {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse().expect("a number"));
    let (rounds, idle) = (numbers.next().unwrap_or(20), numbers.next().unwrap_or(600));
    moved(rounds).await;
    crashed(rounds).await;
    half_up(rounds).await;
    restarted(rounds).await;
    watched(Duration::from_secs(idle)).await;
}

/// A gateway that watches an application, and an editor connected to it.
async fn watched_app(scene: &Scene, pieces: &Pieces) -> (Gateway, Editor) {
    pieces.describe(&scene.home(), "");
    let gateway = scene.gateway_of("", "[upstreams.pieces]\npreset = \"pieces-os\"\n").await;
    let editor = gateway.editor("/mcp/pieces").await;
    (gateway, editor)
}

/// The application moves to another port, in alternate rounds with and without a held call.
async fn moved(rounds: u64) {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let (gateway, mut editor) = watched_app(&scene, &pieces).await;
    let (mut called, mut followed) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let next = pieces.starts() + 1;
        known(&gateway, pieces.pid()).await;
        pieces.newest().tell_last(Fault::Move).await;
        let (listens, answered) = tokio::join!(born(&pieces, next), answered(&mut editor));
        called.push(answered.saturating_duration_since(listens));
        let next = next + 1;
        known(&gateway, pieces.pid()).await;
        pieces.newest().tell_last(Fault::Move).await;
        let listens = born(&pieces, next).await;
        known(&gateway, pieces.pid()).await;
        followed.push(listens.elapsed());
    }
    say("on another port, to a waiting call's answer", called);
    say("on another port, to known again without a call", followed);
}

/// The application crashes and is restarted automatically.
async fn crashed(rounds: u64) {
    let (mut called, mut noticed) = (Vec::new(), Vec::new());
    for _ in 0..rounds.div_ceil(3) {
        let scene = Scene::new();
        let pieces = Pieces::start(&scene).await;
        let (gateway, mut editor) = watched_app(&scene, &pieces).await;
        // The gateway stops restarting after three crashes in ten minutes.
        for _ in 0..3 {
            known(&gateway, pieces.pid()).await;
            pieces.newest().tell_last(Fault::Abort).await;
            let (at, ended) = (clock::unix_millis(), Instant::now());
            called.push(answered(&mut editor).await.saturating_duration_since(ended));
            let reply = gateway.control(Method::GET, "/api/incidents?upstream=pieces").await;
            let outages: Vec<Incident> =
                serde_json::from_value(reply["incidents"].clone()).expect("they are outages");
            let began = outages.first().map_or(at, |outage| outage.began);
            noticed.push(Duration::from_millis(began.saturating_sub(at)));
        }
    }
    say("crash seen by the test, to the first sign written down", noticed);
    say("crash, to a waiting call's answer after the restart", called);
}

/// The health check passes before the tools are available.
async fn half_up(rounds: u64) {
    let mut called = Vec::new();
    let scene = Scene::new();
    let mut pieces = Pieces::install(&scene).await;
    let (gateway, mut editor) = watched_app(&scene, &pieces).await;
    for _ in 0..rounds {
        pieces.alter(|settings| settings.half_up = true);
        pieces.launch().await;
        gateway.until("pieces", |one| app(one.app.as_ref(), |app| app.word == "Not ready")).await;
        pieces.alter(|settings| settings.half_up = false);
        let ready = Instant::now();
        called.push(answered(&mut editor).await.saturating_duration_since(ready));
        known(&gateway, pieces.pid()).await;
        pieces.newest().tell_last(Fault::Quit).await;
        gateway.until("pieces", |one| matches!(one.link, UpstreamState::Down { .. })).await;
    }
    say("half up, to the first good call once its tools are there", called);
}

/// A user asks for a restart.
async fn restarted(rounds: u64) {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let (gateway, _editor) = watched_app(&scene, &pieces).await;
    let mut took = Vec::new();
    for _ in 0..rounds {
        known(&gateway, pieces.pid()).await;
        let began = Instant::now();
        let begun = gateway.control(Method::POST, "/api/upstreams/pieces/restart").await;
        let number = begun["number"].as_u64().expect("it has a number");
        let over = |app: &AppStatus| {
            app.restart.as_ref().is_some_and(|one| one.number == number && one.end.is_some())
        };
        gateway.until("pieces", |one| app(one.app.as_ref(), over)).await;
        took.push(began.elapsed());
    }
    say("restart by its own way", took);
}

/// Idle cost, with the application running and without it.
async fn watched(length: Duration) {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let (gateway, _editor) = watched_app(&scene, &pieces).await;
    known(&gateway, pieces.pid()).await;
    cost("while it serves", &gateway, length).await;
    pieces.newest().tell_last(Fault::Quit).await;
    gateway.until("pieces", |one| app(one.app.as_ref(), |app| app.offer.is_some())).await;
    cost("while it is away", &gateway, length).await;
}

#[expect(clippy::print_stdout, reason = "a measurement prints its figures")]
async fn cost(when: &str, gateway: &Gateway, length: Duration) {
    let pid = gateway.process.pid();
    let before = measure::busy(pid).unwrap_or_default();
    sleep(length).await;
    let spent = measure::busy(pid).unwrap_or_default().saturating_sub(before);
    let share = 100.0 * spent.as_secs_f64() / length.as_secs_f64();
    let memory = measure::memory(pid).unwrap_or_default();
    println!("{when:<56} {share:.3} % of a processor over {} s, {memory} KiB", length.as_secs());
}

/// Waits until the gateway has found this process and is connected to it.
async fn known(gateway: &Gateway, pid: u32) {
    let connected = |link: &UpstreamState| matches!(link, UpstreamState::Connected { .. });
    let known = |one: Option<&AppStatus>| app(one, |app| app.pid == Some(pid));
    gateway.until("pieces", |one| connected(&one.link) && known(one.app.as_ref())).await;
}

fn app(one: Option<&AppStatus>, wanted: impl Fn(&AppStatus) -> bool) -> bool {
    one.is_some_and(wanted)
}

async fn born(pieces: &Pieces, life: usize) -> Instant {
    pieces.instance(life).await;
    Instant::now()
}

async fn answered(editor: &mut Editor) -> Instant {
    let said = editor.call("create_pieces_memory", &json!({ "summary": "a" })).await;
    assert_eq!(said["content"][0]["text"], "a");
    Instant::now()
}

#[expect(clippy::print_stdout, reason = "a measurement prints its figures")]
fn say(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_millis();
    let (p50, p95, longest) = (at(50), at(95), at(100));
    println!(
        "{what:<56} p50 {p50:>5} ms  p95 {p95:>5} ms  longest {longest:>5} ms  ({})",
        times.len()
    );
}
