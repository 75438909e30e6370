//! `recovery [KILLS] [STALLS]`: how fast the gateway notices that an upstream is down, and how soon
//! a call succeeds once the upstream is back.

use std::time::Duration;

use evermoor_core::api::UpstreamState;
use evermoor_tests::Scene;
use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::gateway::States;
use tokio::time::{Instant, sleep};

#[tokio::main]
async fn main() {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse().expect("a number"));
    let (kills, stalls) = (numbers.next().unwrap_or(200), numbers.next().unwrap_or(0));
    killed(kills).await;
    if stalls > 0 {
        stalled(stalls).await;
    }
}

/// In every other round the call is held during the outage; otherwise it is made afterwards.
async fn killed(kills: u32) {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let mut states = gateway.states().await;
    let (mut noticed, mut waiting, mut fresh) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..kills {
        until(&mut states, true).await;
        let killed = Instant::now();
        let (_, down) = tokio::join!(upstream.kill(), async {
            until(&mut states, false).await;
            killed.elapsed()
        });
        noticed.push(down);
        // The longer the outage, the longer the pause between reconnection attempts.
        let away = Duration::from_millis(u64::from(round % 6) * 300);
        let nonce = format!("round {round}");
        let back = async {
            sleep(away).await;
            upstream.start_again().await;
            Instant::now()
        };
        let (answer, back, recovered) = if round % 2 == 0 {
            let (answer, back) = tokio::join!(
                async { (editor.attempt("record", &nonce).await, Instant::now()) },
                back
            );
            (answer.0, answer.1.saturating_duration_since(back), &mut waiting)
        } else {
            let back = back.await;
            (editor.attempt("record", &nonce).await, back.elapsed(), &mut fresh)
        };
        assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
        recovered.push(back);
    }
    let doubled = upstream.ledger.all().values().filter(|executions| **executions != 1).count();
    say(&format!("kills {kills}, executed other than once: {doubled}"));
    figures("killed, until noticed", &mut noticed);
    figures("back, until a waiting call was answered", &mut waiting);
    figures("back, until a new call was answered", &mut fresh);
}

#[cfg(unix)]
async fn stalled(stalls: u32) {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut states = gateway.states().await;
    let (mut noticed, mut back) = (Vec::new(), Vec::new());
    until(&mut states, true).await;
    for _ in 0..stalls {
        let began = Instant::now();
        upstream.freeze();
        until(&mut states, false).await;
        noticed.push(began.elapsed());
        let began = Instant::now();
        upstream.thaw();
        until(&mut states, true).await;
        back.push(began.elapsed());
    }
    figures("frozen, until noticed", &mut noticed);
    figures("thawed, until connected", &mut back);
}

#[cfg(not(unix))]
async fn stalled(_: u32) {}

async fn until(states: &mut States, connected: bool) {
    loop {
        let status = states.next().await;
        if matches!(status.upstreams[0].link, UpstreamState::Connected { .. }) == connected {
            return;
        }
    }
}

fn figures(label: &str, times: &mut [Duration]) {
    times.sort_unstable();
    if times.is_empty() {
        return;
    }
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let (p50, p99, longest) = (at(0.5), at(0.99), at(1.0));
    say(&format!("{label:<42} p50 {p50:>8.1} ms  p99 {p99:>8.1} ms  longest {longest:>8.1} ms"));
}

#[expect(clippy::print_stdout, reason = "a measurement prints its figures")]
fn say(line: &str) {
    println!("{line}");
}
