//! Network faults: resets, cuts, silence and slowness.

use std::time::Duration;

use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::network::proxy::NetworkFault;

use super::{Play, is_not_sent, is_unknown, timed};

#[tokio::test]
async fn a_call_during_refused_connections_is_held_and_runs_once_when_they_are_accepted() {
    let mut play = Play::new().await;
    play.proxy.set(NetworkFault::Refuse).await;
    play.gateway.until_down("notes").await;
    let (answer, ()) = tokio::join!(play.editor.attempt("record", "held"), play.proxy.heal());
    play.check("held", &answer);
    assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
}

#[tokio::test]
async fn a_hold_ends_with_nothing_executed_while_connections_are_refused() {
    let mut play = Play::with("hold = 1", "").await;
    play.proxy.set(NetworkFault::Refuse).await;
    let answer = play.record("never").await;
    assert_eq!(answer.why(), (-33003, "hold_expired"), "{answer:?}");
    assert_eq!(play.proxy.forwarded("never"), 0);
}

#[tokio::test]
async fn a_connection_reset_before_the_request_is_read_executes_nothing_and_the_next_call_works() {
    let mut play = Play::with("hold = 3", "").await;
    for round in 0..10 {
        // After the cut the gateway has no other connection to use.
        play.proxy.set(NetworkFault::Refuse).await;
        play.gateway.until_down("notes").await;
        play.proxy.heal().await;
        play.gateway.until_connected("notes").await;
        play.proxy.set(NetworkFault::ResetAtAccept).await;
        let nonce = format!("reset {round}");
        let before = play.proxy.resets();
        let mut call = Box::pin(play.editor.attempt("record", &nonce));
        let answer = tokio::select! {
            answer = &mut call => answer,
            () = play.proxy.until_reset(before) => {
                play.proxy.heal().await;
                (&mut call).await
            }
        };
        drop(call);
        println!("{nonce}: {:?} after {} resets", answer.why(), play.proxy.resets() - before);
        play.check(&nonce, &answer);
        play.proxy.heal().await;
        play.works(&format!("after {round}")).await;
    }
}

#[tokio::test]
async fn resetting_every_idle_connection_loses_no_call() {
    let mut play = Play::new().await;
    for round in 0..10 {
        play.works(&format!("warm {round}")).await;
        play.proxy.set(NetworkFault::Refuse).await;
        play.proxy.heal().await;
        play.works(&format!("after the cut {round}")).await;
    }
}

#[tokio::test]
async fn a_reset_after_the_request_was_read_is_unknown_and_never_repeated() {
    let mut play = Play::new().await;
    play.proxy.set_on("tools/call", NetworkFault::ResetAfterRequest).await;
    let answer = play.record("cut").await;
    assert_eq!(answer.why(), (-33010, "connection_reset"), "{answer:?}");
    assert_eq!(play.proxy.forwarded("cut"), 1);
    play.proxy.heal().await;
    play.works("after").await;
    assert_eq!(play.upstream.ledger.executions("cut"), 1);
}

#[tokio::test]
async fn a_request_lost_in_the_network_is_unknown_although_nothing_ran() {
    let mut play = Play::new().await;
    play.proxy.set_on("tools/call", NetworkFault::ResetUnforwarded).await;
    let answer = play.record("swallowed").await;
    assert_eq!(answer.why(), (-33010, "connection_reset"), "{answer:?}");
    play.proxy.heal().await;
    play.works("after").await;
    assert_eq!(play.upstream.ledger.executions("swallowed"), 0);
}

#[tokio::test]
async fn a_read_cut_off_after_it_was_sent_is_sent_again_and_answered() {
    let mut play = Play::new().await;
    for fault in
        [NetworkFault::ResetAfterRequest, NetworkFault::FinMidHeaders, NetworkFault::FinMidBody]
    {
        let uri = format!("note:{fault:?}");
        play.proxy.once_on(&uri, fault).await;
        let answer = play.editor.read(&uri).await;
        assert_eq!((&answer.verdict, answer.text.as_str()), (&Verdict::Done, uri.as_str()));
        assert_eq!(play.proxy.forwarded(&uri), 2);
    }
}

#[tokio::test]
async fn a_reply_cut_in_its_headers_is_unknown() {
    a_cut_reply_is_unknown(NetworkFault::FinMidHeaders).await;
}

#[tokio::test]
async fn a_reply_cut_in_its_body_is_unknown() {
    a_cut_reply_is_unknown(NetworkFault::FinMidBody).await;
}

async fn a_cut_reply_is_unknown(fault: NetworkFault) {
    let mut play = Play::new().await;
    play.proxy.once_on("cut", fault).await;
    let answer = play.record("cut").await;
    assert_eq!(answer.why(), (-33010, "eof_before_reply"), "{answer:?}");
    play.works("after").await;
    assert_eq!(play.upstream.ledger.executions("cut"), 1);
}

#[tokio::test]
async fn a_black_hole_ends_a_call_as_unknown_and_the_next_call_works_once_it_is_gone() {
    let mut play = Play::with("", "call_timeout = 2").await;
    play.proxy.set_on("tools/call", NetworkFault::Blackhole).await;
    let answer = play.record("swallowed").await;
    assert_eq!(answer.why().0, -33011, "{answer:?}");
    play.proxy.heal().await;
    play.works("after").await;
    assert_eq!(play.upstream.ledger.executions("swallowed"), 0);
}

#[tokio::test]
async fn a_black_hole_for_everything_is_noticed_although_nobody_calls() {
    let play = Play::with("", "keepalive_interval = 1").await;
    play.proxy.set(NetworkFault::Blackhole).await;
    let (down, took) = timed(play.gateway.until_down("notes")).await;
    assert_eq!(down.word(), "Not responding");
    assert!(took < Duration::from_secs(25), "{took:?}");
    play.proxy.heal().await;
    play.gateway.until_connected("notes").await;
}

#[tokio::test]
async fn silent_connections_lose_at_most_the_calls_that_use_them() {
    let mut play = Play::with("", "call_timeout = 2").await;
    play.works("warm").await;
    play.proxy.set(NetworkFault::HalfOpen).await;
    let answer = play.record("perhaps over the silent one").await;
    assert!(answer.verdict == Verdict::Done || is_unknown(&answer), "{answer:?}");
    play.works("after").await;
}

#[tokio::test]
async fn a_call_over_a_connection_that_goes_silent_is_ended_by_the_keepalive() {
    let mut play = Play::with("", "keepalive_interval = 1").await;
    // A call gets 45 s before its upstream counts as dead.
    play.editor.patience = Duration::from_secs(75);
    let (answer, ()) = tokio::join!(play.editor.attempt("hang", "silent"), async {
        play.proxy.until_read("silent").await;
        // It has answered a ping during the call, so it is not a server that does one thing at a
        // time.
        let pings = play.proxy.forwarded("\"ping\"");
        play.proxy.until_forwarded("\"ping\"", pings + 2).await;
        play.proxy.set(NetworkFault::Blackhole).await;
    });
    play.check("silent", &answer);
    assert_eq!(answer.why().0, -33011, "{answer:?}");
    play.proxy.heal().await;
    play.works("after").await;
}

#[tokio::test]
async fn latency_delays_a_call_and_nothing_else() {
    let mut play = Play::new().await;
    play.proxy.set(NetworkFault::Latency(Duration::from_millis(300))).await;
    let (answer, took) = timed(play.record("late")).await;
    assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
    assert!(took >= Duration::from_millis(300), "{took:?}");
}

#[tokio::test]
async fn a_reply_that_drips_is_waited_for_and_others_overtake_it() {
    let mut play = Play::new().await;
    play.proxy.set_on("slowly", NetworkFault::Drip(100)).await;
    let mut other = play.gateway.editor("/mcp/notes").await;
    let dripping = timed(play.editor.attempt("record", "slowly"));
    let overtaking = async {
        play.upstream.until_executed("slowly").await;
        timed(other.attempt("record", "quickly")).await
    };
    let ((slow, slow_took), (quick, quick_took)) = tokio::join!(dripping, overtaking);
    play.check("slowly", &slow);
    play.check("quickly", &quick);
    assert_eq!((&slow.verdict, &quick.verdict), (&Verdict::Done, &Verdict::Done));
    assert!(quick_took < slow_took, "{quick_took:?} {slow_took:?}");
}

#[tokio::test]
async fn endless_headers_are_aborted_as_unknown() {
    let mut play = Play::with("", "call_timeout = 2").await;
    play.proxy.set_on("tools/call", NetworkFault::Drip(1)).await;
    let answer = play.record("endless").await;
    assert_eq!(answer.why(), (-33011, "timeout"), "{answer:?}");
    play.proxy.heal().await;
    play.works("after").await;
}

#[tokio::test]
async fn an_upstream_that_only_resets_ends_the_hold_with_an_honest_answer() {
    let mut play = Play::with("hold = 2", "").await;
    play.proxy.set(NetworkFault::Refuse).await;
    play.gateway.until_down("notes").await;
    play.proxy.set(NetworkFault::ResetAtAccept).await;
    let answer = play.record("never").await;
    assert!(is_not_sent(&answer), "{answer:?}");
}
