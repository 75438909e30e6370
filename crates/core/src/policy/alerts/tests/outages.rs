//! When an outage is told, and how it ends.

use super::*;

#[test]
fn one_that_quit_is_told_after_five_seconds_and_one_attempt() {
    let mut stage = Stage::new();
    assert!(stage.link(PIECES, down(Code::NotRunning, 0)).is_empty());
    assert!(stage.wait(MINUTE).is_empty(), "it was not tried to connect yet");
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    assert!(stage.wait(4_999).is_empty());
    assert_eq!(stage.wait(1), ["show 0: PiecesOS quit unexpectedly"]);
    assert!(stage.wait(3 * HOUR).is_empty(), "once");
}

#[test]
fn one_that_does_not_answer_is_told_after_twenty_seconds() {
    let mut stage = Stage::new();
    stage.link(PIECES, down(Code::Timeout, 0));
    assert!(stage.wait(19_999).is_empty());
    assert_eq!(stage.wait(1), ["show 0: PiecesOS is not responding"]);
}

#[test]
fn one_that_comes_back_within_its_grace_is_not_told() {
    for (code, away) in [(Code::Crashed, 4_999), (Code::Timeout, 19_999), (Code::Starting, 59_999)]
    {
        let mut stage = Stage::new();
        stage.down(PIECES, code);
        assert!(stage.wait(away).is_empty());
        assert!(stage.up(PIECES).is_empty());
        assert!(stage.wait(HOUR).is_empty());
    }
}

#[test]
fn the_grace_of_an_outage_is_counted_from_its_beginning_whatever_becomes_of_it() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Timeout);
    assert!(stage.wait(10 * SECOND).is_empty());
    assert_eq!(stage.down(PIECES, Code::Crashed), ["show 0: PiecesOS quit unexpectedly"]);
}

#[test]
fn a_restart_under_way_is_waited_for() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.restart(1, None);
    assert!(stage.wait(MINUTE).is_empty());
    assert!(stage.up(PIECES).is_empty());
    assert!(stage.restart(1, Some(None)).is_empty());
    stage.down(PIECES, Code::Crashed);
    stage.restart(2, None);
    assert!(stage.wait(MINUTE).is_empty());
    assert_eq!(
        stage.restart(2, Some(Some(Code::NotRunning))),
        ["show 0: PiecesOS quit unexpectedly"]
    );
}

#[test]
fn recovered_takes_the_place_of_down_without_a_sound() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.wait(MINUTE);
    stage.upstream(PIECES).link = connected();
    let orders = stage.alerts.see(&stage.status, stage.now);
    let [Order::Replace(Id(0), notice)] = orders.as_slice() else { panic!("{orders:?}") };
    assert_eq!(notice.title, "PiecesOS is back");
    assert_eq!(notice.body, "12 tools are available again.");
    assert!(notice.quiet && notice.buttons.is_empty());
}

#[test]
fn a_notice_that_could_not_be_shown_has_no_end_either() {
    let mut stage = Stage::new();
    stage.broken = true;
    stage.down(PIECES, Code::Crashed);
    assert_eq!(stage.wait(MINUTE).len(), 1);
    assert!(stage.up(PIECES).is_empty());
}

#[test]
fn what_says_that_it_is_back_goes_as_soon_as_it_is_not() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.wait(MINUTE);
    assert_eq!(stage.up(PIECES), ["replace 0: PiecesOS is back"]);
    assert_eq!(stage.down(PIECES, Code::Crashed), ["withdraw 0"]);
}

#[test]
fn who_was_never_there_is_not_missed() {
    for code in [Code::NotRunning, Code::Timeout, Code::Starting] {
        let mut stage = Stage::new();
        stage.status.upstreams.push(Upstream {
            link: down(code, 1),
            ..upstream("new", "New", "https://new.example", None)
        });
        assert!(stage.seen().is_empty());
        assert!(stage.wait(HOUR).is_empty());
    }
}

#[test]
fn what_a_person_quit_or_removed_is_not_told() {
    for code in [Code::Quit, Code::NotInstalled] {
        let mut stage = Stage::new();
        stage.down(PIECES, code);
        assert!(stage.wait(HOUR).is_empty());
    }
}

#[test]
fn what_turns_out_to_have_been_quit_is_taken_back() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::NotRunning);
    stage.wait(6 * SECOND);
    assert_eq!(stage.down(PIECES, Code::Quit), ["withdraw 0"]);
    assert!(stage.up(PIECES).is_empty());
}

#[test]
fn one_that_keeps_crashing_is_told_once_and_at_once() {
    let mut stage = Stage::new();
    stage.upstream(PIECES).app.as_mut().unwrap().gave_up = true;
    assert_eq!(stage.down(PIECES, Code::Crashed), ["show 0: PiecesOS keeps crashing"]);
    assert!(stage.wait(3 * HOUR).is_empty());
    assert!(stage.down(PIECES, Code::NotRunning).is_empty(), "it is not told as something less");
}

#[test]
fn a_program_that_keeps_crashing_is_told_without_having_been_there() {
    let mut stage = Stage::new();
    let new = upstream("new", "New", "new-mcp", None);
    stage.status.upstreams.push(Upstream { link: down(Code::CrashLoop, 4), ..new });
    assert_eq!(stage.seen(), ["show 0: New keeps crashing"]);
}

#[test]
fn what_was_told_becomes_worse_in_its_place() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.wait(MINUTE);
    stage.upstream(PIECES).app.as_mut().unwrap().gave_up = true;
    assert_eq!(stage.seen(), ["replace 0: PiecesOS keeps crashing"]);
    assert_eq!(stage.up(PIECES), ["replace 0: PiecesOS is back"]);
}

#[test]
fn one_that_needs_a_person_to_sign_in_says_so_once() {
    let mut stage = Stage::new();
    stage.down(GITHUB, Code::AuthRequired);
    assert_eq!(stage.wait(MINUTE), ["show 0: GitHub needs you to sign in"]);
    assert!(stage.wait(5 * HOUR).is_empty());
}

#[test]
fn one_that_leaves_the_configuration_takes_its_notice_along() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.wait(MINUTE);
    stage.status.upstreams.remove(0);
    assert_eq!(stage.seen(), ["withdraw 0"]);
    assert!(stage.wait(HOUR).is_empty());
}

#[test]
fn a_gateway_that_does_not_come_back_is_told_and_its_upstreams_are_not() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    let lost = failure(Code::ConnectionLost);
    assert!(stage.alerts.lose(&lost, stage.now).is_empty());
    assert_eq!(stage.wait(MINUTE), ["show 0: Evermoor stopped working"]);
    assert_eq!(stage.seen(), ["replace 0: Evermoor is back", "show 1: PiecesOS quit unexpectedly"]);
}

fn sign(stage: &mut Stage, out: bool) -> Vec<String> {
    stage.upstream(PIECES).app.as_mut().unwrap().signed_out = out;
    stage.seen()
}

#[test]
fn one_that_works_and_wants_a_person_to_sign_in_says_so_once() {
    let mut stage = Stage::new();
    assert!(sign(&mut stage, true).is_empty());
    assert_eq!(stage.wait(MINUTE), ["show 0: PiecesOS needs you to sign in"]);
    assert!(stage.seen().is_empty() && stage.wait(12 * HOUR).is_empty());
    assert_eq!(sign(&mut stage, false), ["replace 0: PiecesOS is back"]);
    assert!(stage.wait(HOUR).is_empty());
    sign(&mut stage, true);
    assert_eq!(stage.wait(MINUTE), ["show 1: PiecesOS needs you to sign in"]);
}

#[test]
fn a_crash_of_one_that_nobody_is_signed_in_to_is_told_as_a_crash() {
    let mut stage = Stage::new();
    sign(&mut stage, true);
    stage.wait(MINUTE);
    assert_eq!(stage.down(PIECES, Code::Crashed), ["withdraw 0"]);
    assert_eq!(stage.wait(MINUTE), ["show 1: PiecesOS quit unexpectedly"]);
}

#[test]
fn whoever_signs_in_again_at_once_hears_nothing() {
    let mut stage = Stage::new();
    sign(&mut stage, true);
    stage.wait(3 * SECOND);
    assert!(sign(&mut stage, false).is_empty() && stage.wait(HOUR).is_empty());
}
