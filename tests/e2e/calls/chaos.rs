//! Everything at once: six editors call continuously while the network and the upstream fail in
//! every known way. Afterwards every answer is checked against the ledger.
//!
//! `SEED=…` repeats the same faults in the same order.

use std::sync::Arc;
use std::time::Duration;

use evermoor_tests::editor::Editor;
use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::network::proxy::Proxy;
use evermoor_tests::oracle::faults::InjectedFault;
use evermoor_tests::oracle::random::Dice;
use evermoor_tests::oracle::{self, RecordedCall, measure};
use evermoor_tests::{PATIENCE, Scene};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

const LENGTH: Duration = Duration::from_secs(12);
const HOLD: Duration = Duration::from_secs(1);
/// An outage longer than the hold.
const TOO_LONG: Duration = Duration::from_millis(1400);
const CALL_TIMEOUT: Duration = Duration::from_secs(3);
const HTTP_EDITORS: usize = 4;
const SHIM_EDITORS: usize = 2;

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
    let before = measure::resources(gateway.process.pid());

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
    while probes.last().is_none_or(|probe: &RecordedCall| probe.answer.verdict != Verdict::Done) {
        let nonce = format!("probe {}", probes.len());
        let answer = probe.attempt("record", &nonce).await;
        probes.push(RecordedCall { nonce, answer, took: healed.elapsed() });
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
    println!(
        "descriptors and memory in KiB: {before:?} before, {:?} after",
        measure::resources(gateway.process.pid())
    );
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
) -> Vec<RecordedCall> {
    let mut calls = Vec::new();
    while !*stop.borrow() {
        let nonce = format!("editor {number} call {}", calls.len());
        let began = Instant::now();
        let answer = editor.attempt("record", &nonce).await;
        calls.push(RecordedCall { nonce, answer, took: began.elapsed() });
    }
    calls
}

/// Injects one fault after another and returns how many. Nothing is broken at the end.
async fn break_things(mut dice: Dice, network: &Proxy, upstream: &mut Upstream) -> usize {
    let (began, all) = (Instant::now(), InjectedFault::all());
    let mut faults = 0;
    while began.elapsed() < LENGTH {
        let fault = dice.pick(&all);
        fault.inject(upstream, network, &mut dice, TOO_LONG).await;
        faults += 1;
    }
    faults
}
