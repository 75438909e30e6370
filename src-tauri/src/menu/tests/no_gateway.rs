//! The menu while no gateway runs.

use insta::assert_snapshot;

use super::*;

fn lost(code: Code, what: &str, remedy: &str) -> TrayState {
    state(Presence::Lost { failure: Failure::new(code, what, remedy) })
}

#[test]
fn a_port_conflict_names_the_process_and_offers_another_port() {
    let what = "Port 7420 is used by \"node\" (process 812).";
    let state = lost(Code::PortTaken, what, "Stop it, or set another address in config.toml.");
    assert_snapshot!(head(&state), @r#"
    Evermoor cannot start [show #/]
    (Port 7420 is used by "node" (process 812).)
    ---
    Use another port and update editors [move-port]
    Try again [try-again]
    Show details… [show #/doctor]
    "#);
}

#[test]
fn any_other_failure_is_shown_with_its_remedy() {
    let state = lost(Code::Configuration, "Line 3 is wrong.", "Correct config.toml.");
    assert_snapshot!(head(&state), @r"
    Evermoor cannot start [show #/]
    (Line 3 is wrong.)
    (Correct config.toml.)
    ---
    Try again [try-again]
    Show details… [show #/doctor]
    ");
}

#[test]
fn a_gateway_that_the_user_stopped_can_be_started() {
    assert_snapshot!(head(&state(Presence::Stopped)), @r"
    Evermoor is stopped [show #/]
    Start Evermoor [try-again]
    ");
}
