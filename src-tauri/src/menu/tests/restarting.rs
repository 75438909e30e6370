//! The menu after a click on Restart, and for an application that offers Start.

use super::*;

fn pieces(next: NextStep, restart: Option<RestartProgress>, code: Code) -> UpstreamStatus {
    let link = down(code, "It is not there.");
    UpstreamStatus { app: Some(app(next, restart)), ..upstream("PiecesOS", 12, link) }
}

fn rows(state: &TrayState) -> Vec<String> {
    head(state).lines().take(6).map(str::to_owned).collect()
}

#[test]
fn an_application_that_the_user_quit_offers_start() {
    let rows = rows(&serving(vec![pieces(NextStep::Start, None, Code::Quit)]));
    let wanted = [
        "PiecesOS was quit [show #/upstreams/piecesos]",
        "Start PiecesOS [restart piecesos]",
        "---",
        "PiecesOS — Quit >",
        "  (It is not there.)",
        "  Start PiecesOS [restart piecesos]",
    ];
    assert_eq!(rows, wanted);
}

#[test]
fn a_restart_is_shown_until_it_has_ended() {
    let running = RestartProgress { number: 1, began: 1, steps: vec![], end: None };
    let reported = serving(vec![pieces(NextStep::Restart, Some(running), Code::Crashed)]);
    let mut clicked = serving(vec![pieces(NextStep::Restart, None, Code::Crashed)]);
    clicked.restarting.insert("piecesos".into());
    let wanted = [
        "PiecesOS crashed [show #/upstreams/piecesos]",
        "(Restarting PiecesOS…)",
        "---",
        "PiecesOS — Restarting… >",
        "  (It is not there.)",
        "  (Restarting PiecesOS…)",
    ];
    assert_eq!(rows(&reported), wanted);
    assert_eq!(rows(&clicked), wanted);
}

#[test]
fn an_application_that_is_not_installed_cannot_be_restarted() {
    let rows = rows(&serving(vec![pieces(NextStep::Install, None, Code::NotInstalled)]));
    assert_eq!(rows[1], "---");
}

#[test]
fn several_restarts_are_shown_in_one_row() {
    let two = || {
        vec![
            upstream("A", 1, down(Code::Timeout, "It does not answer.")),
            upstream("B", 1, down(Code::Timeout, "It does not answer.")),
        ]
    };
    let mut state = serving(two());
    state.restarting.insert("a".into());
    assert_eq!(rows(&state)[1], "Restart all (2) [restart]");
    state.restarting.insert("b".into());
    assert_eq!(rows(&state)[1], "(Restarting…)");
}
