//! Servers that take requests and never answer, or only late.

use std::time::Duration;

#[cfg(unix)]
use evermoor_tests::Scene;
use evermoor_tests::editor::answer::CallAnswer;
#[cfg(unix)]
use evermoor_tests::editor::answer::Verdict;
#[cfg(unix)]
use evermoor_tests::fakes::program::{Program, until_gone};
use evermoor_tests::fakes::upstream::script::Act;
use evermoor_tests::gateway::Gateway;
#[cfg(unix)]
use evermoor_tests::scene::freezing;
use evermoor_tests::scene::wait::until;

use super::{Play, is_unknown, timed};

/// How long a call to a server that hangs may take.
const PROMISED: Duration = Duration::from_secs(45);
/// Makes the gateway ping more often, so that it gives up after 16 s.
const OFTEN: &str = "keepalive_interval = 1";

fn is_stalled(answer: &CallAnswer) -> bool {
    is_unknown(answer) && answer.why() == (-33011, "stalled")
}

#[tokio::test]
async fn a_call_to_a_frozen_server_ends_within_45_s_and_the_server_is_used_again_when_it_goes_on() {
    let mut play = Play::direct("", "").await;
    play.editor.patience = 2 * PROMISED;
    play.upstream.freeze();
    let (answer, took) = timed(play.editor.attempt("record", "frozen")).await;
    play.check("frozen", &answer);
    assert!(is_stalled(&answer), "{answer:?}");
    assert!(took <= PROMISED, "{took:?}");
    play.upstream.thaw();
    play.gateway.until_connected("notes").await;
    play.works("after").await;
    play.check("frozen", &answer);
}

/// A process stopped by a signal or a debugger is not busy, although a program may do one thing at a time.
#[cfg(unix)]
#[tokio::test]
async fn a_call_to_a_program_that_is_stopped_ends_within_45_s_and_another_process_is_started() {
    let scene = Scene::new();
    let program = Program::new("notes", scene.path("notes.ledger"), &[]);
    let gateway = scene.gateway_of("", &program.entry()).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    editor.patience = 2 * PROMISED;
    let before = editor.attempt("record", "before").await;
    assert_eq!(before.verdict, Verdict::Done, "{before:?}");
    let stopped = program.instance(1).await;
    freezing::freeze(stopped);
    let (answer, took) = timed(editor.attempt("record", "stopped")).await;
    assert!(is_stalled(&answer), "{answer:?}");
    assert!(took <= PROMISED, "{took:?}");
    let after = editor.attempt("record", "after").await;
    assert_eq!(after.verdict, Verdict::Done, "{after:?}");
    assert_eq!(program.starts(), 2);
    freezing::thaw(stopped);
    program.until_executed("stopped").await;
    until_gone(stopped).await;
    assert_eq!(program.ledger.executions("stopped"), 1);
}

#[tokio::test]
async fn a_call_to_an_endpoint_that_never_answers_ends_although_the_server_is_healthy_otherwise() {
    let mut play = Play::direct("", OFTEN).await;
    for method in ["tools/call", "ping"] {
        play.upstream.always(method, Act::Hang).await;
    }
    let (answer, took) = timed(play.editor.attempt("record", "hung")).await;
    play.check("hung", &answer);
    assert!(is_stalled(&answer), "{answer:?}");
    assert!(took <= PROMISED, "{took:?}");
    play.upstream.behave().await;
    play.gateway.until_connected("notes").await;
    play.works("after").await;
    assert!(play.upstream.asked("initialize").await >= 2, "a new connection was made");
    assert_eq!(play.upstream.ledger.executions("hung"), 1);
}

#[tokio::test]
async fn a_server_that_was_only_busy_is_not_cut_off_again_even_by_the_next_gateway() {
    let mut play = Play::direct("", OFTEN).await;
    // The pings during the call wait as long as the call.
    let busy = Act::Wait { millis: 19_000 };
    play.upstream.always("tools/call", busy.clone()).await;
    play.upstream.next(3, "ping", busy.clone()).await;
    let answer = play.editor.attempt("record", "first").await;
    assert!(is_stalled(&answer), "{answer:?}");
    play.gateway.until_connected("notes").await;
    play.upstream.until_executed("first").await;
    let catalog = play.gateway.home.join("data/catalogs/notes.json");
    until("it is remembered", || {
        std::fs::read_to_string(&catalog).is_ok_and(|file| file.contains("\"concurrent\":false"))
    })
    .await;
    play.gateway.process.kill().await;
    play.gateway = Gateway::start(&play.gateway.home).await;
    play.gateway.until_connected("notes").await;
    play.editor = play.gateway.editor("/mcp/notes").await;
    play.upstream.next(1, "ping", busy).await;
    play.works("second").await;
}
