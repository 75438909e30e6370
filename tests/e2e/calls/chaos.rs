//! Everything at once: six editors call continuously while the network and the upstream fail in
//! every known way. Afterwards every answer is checked against the ledger.
//!
//! `SEED=…` repeats the same faults in the same order.

use std::sync::Arc;
use std::time::Duration;

use evermoor_tests::editor::Editor;
use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::fakes::upstream::script::{Act, Forgotten, Reply};
use evermoor_tests::gateway::Gateway;
use evermoor_tests::network::proxy::{Fault, Proxy};
use evermoor_tests::oracle::random::Dice;
use evermoor_tests::oracle::{self, Call};
use evermoor_tests::{PATIENCE, Scene};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

const LENGTH: Duration = Duration::from_secs(12);
const HOLD: Duration = Duration::from_secs(1);
/// An outage longer than the hold.
const TOO_LONG: Duration = Duration::from_millis(1400);
const CALL_TIMEOUT: Duration = Duration::from_secs(3);
/// Allowance for a busy machine on top of a time limit.
const HTTP_EDITORS: usize = 4;
const SHIM_EDITORS: usize = 2;

/// A fault to inject.
#[derive(Clone, Debug)]
enum InjectedFault {
    /// A network fault, for everything or only for calls.
    Network(Fault),
    Calls(Fault),
    /// The process is killed and started again, at once or after every hold has ended.
    Kill,
    StayAway,
    /// The process is frozen for a while.
    Freeze,
    Forget(Forgotten),
    /// The server treats some calls in this way.
    Server(Act),
}

fn injected_faults() -> Vec<InjectedFault> {
    let network = [
        Fault::Refuse,
        Fault::ResetAtAccept,
        Fault::Blackhole,
        Fault::HalfOpen,
        Fault::Latency(Duration::from_millis(50)),
    ];
    let calls = [
        Fault::ResetUnforwarded,
        Fault::ResetAfterRequest,
        Fault::FinMidHeaders,
        Fault::FinMidBody,
        Fault::Drip(400),
    ];
    let server = [
        Act::refuse(500),
        Act::refuse(502),
        Act::refuse(503),
        Act::refuse_until(429, "1"),
        Act::Wait { millis: 200 },
        Act::Reply(Reply::Malformed),
        Act::Reply(Reply::CutStream),
        Act::Reply(Reply::WrongId),
        Act::Reply(Reply::Twice),
    ];
    let forgotten = [Forgotten::NotFound, Forgotten::BadRequest, Forgotten::Gone];
    let mut all = vec![
        InjectedFault::Kill,
        InjectedFault::Kill,
        InjectedFault::Kill,
        InjectedFault::StayAway,
        InjectedFault::Freeze,
    ];
    all.extend(network.map(InjectedFault::Network));
    all.extend(calls.map(InjectedFault::Calls));
    all.extend(server.map(InjectedFault::Server));
    all.extend(forgotten.map(InjectedFault::Forget));
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_breaks_no_call_is_lost_repeated_or_misreported() {
    let seed = Dice::seed();
    println!("SEED={seed}");
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let proxy = Proxy::to(&upstream.url).await;
    let (hold, limit) = (HOLD.as_secs(), CALL_TIMEOUT.as_secs());
    let settings = (format!("hold = {hold}"), format!("call_timeout = {limit}"));
    let gateway = scene.gateway_to(&settings.0, "notes", &proxy.url, &settings.1).await;
    gateway.until_connected("notes").await;
    let before = resources(&gateway);

    let stop = Arc::new(watch::Sender::new(false));
    let mut editors = JoinSet::new();
    for (number, editor) in attach(&gateway).await.into_iter().enumerate() {
        editors.spawn(call_until_told(editor, number, Arc::clone(&stop)));
    }
    let faults = break_things(Dice::new(seed), &proxy, &mut upstream).await;

    // Soon after the last fault, calls must succeed again.
    let mut probe = gateway.editor("/mcp/notes").await;
    let healed = Instant::now();
    let mut probes = Vec::new();
    while probes.last().is_none_or(|probe: &Call| probe.answer.verdict != Verdict::Done) {
        let nonce = format!("probe {}", probes.len());
        let answer = probe.attempt("record", &nonce).await;
        probes.push(Call { nonce, answer, took: healed.elapsed() });
        assert!(healed.elapsed() < PATIENCE, "no call works after the last fault: {probes:?}");
    }
    stop.send_replace(true);

    let (mut history, mut lost) = (probes, 0);
    let ended = timeout(PATIENCE, async {
        while let Some(ended) = editors.join_next().await {
            match ended {
                Ok(calls) => history.extend(calls),
                Err(_) => lost += 1,
            }
        }
    });
    ended.await.expect("every call is answered");
    let longest = history.iter().map(|call| call.took).max().unwrap_or_default();
    let verdict = oracle::check(&history, &upstream.ledger.all());
    println!("faults {faults}, lost {lost}, longest call {longest:?}, {verdict:?}");
    println!("descriptors and memory in kB: {before:?} before, {:?} after", resources(&gateway));
    let tally = verdict.unwrap_or_else(|contradictions| panic!("SEED={seed}: {contradictions:#?}"));
    assert_eq!((lost, tally.doubled), (0, 0), "SEED={seed}");
    assert!(tally.done > 100, "SEED={seed}: hardly anything worked: {tally:?}");
}

async fn attach(gateway: &Gateway) -> Vec<Editor> {
    let mut editors = Vec::new();
    for _ in 0..HTTP_EDITORS {
        editors.push(gateway.editor("/mcp/notes").await);
    }
    for _ in 0..SHIM_EDITORS {
        editors.push(gateway.editor_over_shim(Some("notes")).await);
    }
    editors
}

/// Calls continuously, each call with its own nonce.
async fn call_until_told(
    mut editor: Editor,
    number: usize,
    stop: Arc<watch::Sender<bool>>,
) -> Vec<Call> {
    let mut calls = Vec::new();
    while !*stop.borrow() {
        let nonce = format!("editor {number} call {}", calls.len());
        let began = Instant::now();
        let answer = editor.attempt("record", &nonce).await;
        calls.push(Call { nonce, answer, took: began.elapsed() });
    }
    calls
}

/// Injects one fault after another and returns how many. Nothing is broken at the end.
async fn break_things(mut dice: Dice, proxy: &Proxy, upstream: &mut Upstream) -> usize {
    let (began, injected_faults) = (Instant::now(), injected_faults());
    let mut faults = 0;
    while began.elapsed() < LENGTH {
        let injected = dice.pick(&injected_faults);
        let (lasts, rest) = (dice.millis(20, 300), dice.millis(5, 100));
        match injected {
            InjectedFault::Network(fault) => proxy.set(fault).await,
            InjectedFault::Calls(fault) => proxy.set_on("tools/call", fault).await,
            InjectedFault::Kill => {
                upstream.kill().await;
                sleep(lasts).await;
                upstream.start_again().await;
            }
            InjectedFault::StayAway => {
                proxy.set(Fault::Refuse).await;
                sleep(TOO_LONG).await;
            }
            InjectedFault::Freeze => freeze(upstream, lasts).await,
            InjectedFault::Forget(style) => upstream.forget(style).await,
            InjectedFault::Server(act) => upstream.next(3, "tools/call", act).await,
        }
        sleep(lasts).await;
        proxy.heal().await;
        upstream.behave().await;
        sleep(rest).await;
        faults += 1;
    }
    faults
}

async fn freeze(upstream: &Upstream, lasts: Duration) {
    upstream.freeze();
    sleep(lasts).await;
    upstream.thaw();
}

/// The gateway's open file descriptors and memory, where the system tells.
fn resources(gateway: &Gateway) -> Option<(usize, usize)> {
    let folder = format!("/proc/{}", gateway.process.pid());
    let open = std::fs::read_dir(format!("{folder}/fd")).ok()?.count();
    let rollup = std::fs::read_to_string(format!("{folder}/smaps_rollup")).ok()?;
    let held = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some((open, held.trim().trim_end_matches(" kB").parse().ok()?))
}
