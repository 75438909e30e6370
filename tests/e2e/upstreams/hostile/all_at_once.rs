//! Every hostile server and editor at once, beside a server and an editor that do nothing wrong.
//!
//! Two gateways run at the same time, each with such a pair; only one is attacked. So a busy machine
//! slows both pairs down, and the attack only one.
//!
//! What is limited is CPU time of the thread that serves everybody, not wall time. The attackers alone need
//! more processors than the machine has, so a call waits for a processor in its server, in its editor and in
//! the gateway, for tens of milliseconds that have nothing to do with the gateway's work.

use std::time::Duration;

use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::editor::hostile::{HostileEditor, Trick};
use evermoor_tests::oracle::stall_meter::StallMeter;
use evermoor_tests::scene::entry;
use evermoor_tests::scene::programs::built;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::calls::listening_as;
use super::peak_memory;

/// The tricks of the servers: what they do when a tool is called, or with their lists.
const SERVERS: [&[&str]; 9] = [
    &["huge-answer"],
    &["endless-answer"],
    &["flood"],
    &["progress"],
    &["list-changes"],
    &["questions"],
    &["members"],
    &["depth", "escapes", "long-name", "same-cursor"],
    &["large-list"],
];
/// The tricks of the servers over HTTP.
const REMOTE: [&[&str]; 5] =
    [&["huge-answer"], &["endless-answer", "json"], &["flood"], &["questions"], &["list-changes"]];
/// What the gateway may keep, and what it needs besides: for parsing and the allocator, and for a list of 15 MB
/// that is read, merged, stored and requested again and again, while earlier ones are still being used.
const BUDGET: usize = 256_000_000 + 144_000_000 + 200_000_000;
/// How many calls are measured for each pair, and for how long at most: a busy machine makes fewer.
const CALLS: usize = 400;
const MEASURED: Duration = Duration::from_secs(30);
/// For how long others may keep the gateway from serving anybody, in a release build.
const LONGEST_STALL: Duration = Duration::from_millis(50);
/// How much slower the same work is without optimization.
const WITHOUT_OPTIMIZATION: u32 = if cfg!(debug_assertions) { 10 } else { 1 };

// The attacks have threads of their own, so that they do not delay what is measured.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_everything_attacks_a_pair_that_does_nothing_wrong_is_served_at_once() {
    let scene = Scene::new();
    let notes = scene.upstream("notes").await;
    let local = SERVERS.iter().enumerate().map(|(number, tricks)| {
        let tricks: Vec<String> = tricks.iter().map(|trick| (*trick).to_owned()).collect();
        entry::program(&format!("hostile{number}"), &built("hostile-server"), &tricks)
    });
    let mut entries: String = local.chain([entry::at("notes", &notes.url)]).collect();
    let mut remote = Vec::new();
    for (number, tricks) in (SERVERS.len()..).zip(REMOTE) {
        let (server, entry) = listening_as(&format!("hostile{number}"), tricks).await;
        remote.push(server);
        entries += &entry;
    }
    let attackers = SERVERS.len() + REMOTE.len();
    let attacked = scene.gateway_of("", &entries).await;
    let quiet_scene = Scene::new();
    let quiet_notes = quiet_scene.upstream("notes").await;
    let quiet = quiet_scene.gateway(&[&quiet_notes]).await;
    for number in 0..attackers {
        attacked.until_connected(&format!("hostile{number}")).await;
    }
    let before = peak_memory(&attacked);
    let (mut pair, mut quiet_pair) =
        (attacked.editor("/mcp/notes").await, quiet.editor("/mcp/notes").await);
    let (meter, quiet_meter) = (StallMeter::start(&attacked), StallMeter::start(&quiet));

    let over = CancellationToken::new();
    let mut attacks = JoinSet::new();
    for number in 0..attackers {
        let (name, path) = (format!("caller{number}"), format!("/mcp/hostile{number}"));
        let mut editor = HostileEditor::at(&attacked, &name, &path, "tool1").await;
        attacks.spawn(
            over.clone().run_until_cancelled_owned(async move { editor.call_forever().await }),
        );
    }
    for trick in Trick::ALL {
        let name = format!("{trick:?}").to_lowercase();
        let others = [
            (Trick::UnreadAnswers, "/mcp/hostile0"),
            (Trick::Batch, "/mcp/hostile0"),
            (Trick::Subscriptions, "/mcp/hostile7"),
            (Trick::UnreadLists, "/mcp"),
        ];
        let other = others.into_iter().find(|(other, _)| *other == trick);
        let (path, tool) = other.map_or(("/mcp/notes", "record"), |(_, path)| (path, "tool1"));
        let mut editor = HostileEditor::at(&attacked, &name, path, tool).await;
        attacks.spawn(over.clone().run_until_cancelled_owned(async move {
            editor.play(trick).await;
            std::future::pending().await
        }));
    }

    let (mut times, mut quiet_times) = (Vec::new(), Vec::new());
    let began = Instant::now();
    for number in (0..CALLS).take_while(|_| began.elapsed() < MEASURED) {
        let (one, other) = tokio::join!(timed(&mut pair, number), timed(&mut quiet_pair, number));
        times.push(one);
        quiet_times.push(other);
    }
    let (stalls, quiet_stalls) = (meter.stalls().await, quiet_meter.stalls().await);
    over.cancel();
    attacks.join_all().await;

    let (p99, quiet_p99) = (percentile(&mut times), percentile(&mut quiet_times));
    let grown = peak_memory(&attacked).saturating_sub(before);
    let longest = |stalls: &[Duration]| stalls.last().copied().unwrap_or_default();
    println!(
        "calls: p99 {p99:?} under attack and {quiet_p99:?} without, longest {:?} and {:?}",
        longest(&times),
        longest(&quiet_times),
    );
    let stalled = |stalls: &[Duration]| {
        let at = |part: usize| stalls.get(stalls.len() * part / 1000).copied().unwrap_or_default();
        format!(
            "p50 {:?}, p99 {:?}, longest {:?} of {}",
            at(500),
            at(990),
            longest(stalls),
            stalls.len()
        )
    };
    println!("stalls under attack: {}; without: {}", stalled(&stalls), stalled(&quiet_stalls));
    println!("{} MB more memory", grown >> 20);
    let allowed = LONGEST_STALL * WITHOUT_OPTIMIZATION;
    assert!(longest(&stalls) < allowed, "the gateway stood still for {:?}", longest(&stalls));
    let (p99, quiet_p99) = (nearly_all(&stalls), nearly_all(&quiet_stalls));
    assert!(p99 < quiet_p99 + allowed, "{p99:?} under attack and {quiet_p99:?} without");
    assert!(grown < BUDGET, "the gateway grew by {} MB", grown >> 20);
    assert_eq!(notes.ledger.executions("calm 0"), 1);
    // It still accepts connections, and has descriptors for them.
    attacked.editor("/mcp/notes").await;
}

async fn timed(editor: &mut Editor, number: usize) -> Duration {
    let began = Instant::now();
    let nonce = format!("calm {number}");
    let result = editor.call("record", &json!({ "nonce": nonce })).await;
    assert_eq!(result["content"][0]["text"], nonce.as_str());
    began.elapsed()
}

/// The 99th percentile; sorts the times.
fn percentile(times: &mut [Duration]) -> Duration {
    times.sort();
    nearly_all(times)
}

/// The 99th percentile of sorted times.
fn nearly_all(times: &[Duration]) -> Duration {
    times.get(times.len() * 99 / 100).copied().unwrap_or_default()
}
