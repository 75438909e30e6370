//! The menu while there is no gateway.

use insta::assert_snapshot;

use super::*;

fn lost(code: Code, what: &str, remedy: &str) -> Known {
    known(Presence::Lost { failure: Failure::new(code, what, remedy) })
}

#[test]
fn a_port_that_is_taken_names_the_process_and_offers_the_way_out() {
    let what = "Port 7420 is used by \"node\" (process 812).";
    let known = lost(Code::PortTaken, what, "Stop it, or set another address in config.toml.");
    assert_snapshot!(head(&known), @r#"
    Evermoor cannot start [show #/]
    (Port 7420 is used by "node" (process 812).)
    ---
    Use another port and update editors [move-port]
    Try again [try-again]
    Show details… [show #/doctor]
    "#);
}

#[test]
fn any_other_reason_is_told_with_its_remedy() {
    let known = lost(Code::Configuration, "Line 3 is wrong.", "Correct config.toml.");
    assert_snapshot!(head(&known), @r"
    Evermoor cannot start [show #/]
    (Line 3 is wrong.)
    (Correct config.toml.)
    ---
    Try again [try-again]
    Show details… [show #/doctor]
    ");
}
