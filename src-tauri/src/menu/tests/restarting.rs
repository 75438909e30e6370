//! The menu after a click on Restart, and for an application that is to be started.

use super::*;

fn pieces(next: NextStep, restart: Option<RestartProgress>, code: Code) -> UpstreamStatus {
    let link = down(code, "It is not there.");
    UpstreamStatus { app: Some(app(next, restart)), ..upstream("PiecesOS", 12, link) }
}

fn rows(known: &Known) -> Vec<String> {
    head(known).lines().take(6).map(str::to_owned).collect()
}

#[test]
fn an_application_that_a_person_quit_is_started_and_not_restarted() {
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
fn what_was_clicked_is_shown_as_under_way_until_it_is_over() {
    let under_way = RestartProgress { number: 1, began: 1, steps: vec![], end: None };
    let told = serving(vec![pieces(NextStep::Restart, Some(under_way), Code::Crashed)]);
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
    assert_eq!(rows(&told), wanted);
    assert_eq!(rows(&clicked), wanted);
}

#[test]
fn an_application_that_is_not_installed_cannot_be_restarted() {
    let rows = rows(&serving(vec![pieces(NextStep::Install, None, Code::NotInstalled)]));
    assert_eq!(rows[1], "---");
}

#[test]
fn all_that_are_down_are_under_way_together() {
    let two = || {
        vec![
            upstream("A", 1, down(Code::Timeout, "It does not answer.")),
            upstream("B", 1, down(Code::Timeout, "It does not answer.")),
        ]
    };
    let mut known = serving(two());
    known.restarting.insert("a".into());
    assert_eq!(rows(&known)[1], "Restart all (2) [restart]");
    known.restarting.insert("b".into());
    assert_eq!(rows(&known)[1], "(Restarting…)");
}
