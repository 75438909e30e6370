//! What a person does is not told to them.

use super::*;
use crate::api::Touched;

fn restart() -> Act {
    Act::Restart(PIECES.into())
}

#[test]
fn a_restart_that_a_person_asked_for_is_not_told() {
    let mut stage = Stage::new();
    stage.act(&restart());
    stage.down(PIECES, Code::ConnectionLost);
    assert!(stage.wait(50 * SECOND).is_empty());
    assert!(stage.up(PIECES).is_empty());
    assert!(stage.wait(HOUR).is_empty());
}

/// What the gateway says once a person did something to PiecesOS in a dashboard.
fn touched(stage: &mut Stage, ago: u64, restarts: bool) {
    let at = stage.now.wall - ago;
    stage.upstream(PIECES).touched = Some(Touched { at, restarts });
}

#[test]
fn a_restart_in_the_dashboard_is_not_told_either_and_excuses_nothing_later() {
    let mut stage = Stage::new();
    touched(&mut stage, SECOND, true);
    stage.down(PIECES, Code::ConnectionLost);
    assert!(stage.wait(50 * SECOND).is_empty());
    assert!(stage.up(PIECES).is_empty());
    assert!(stage.wait(HOUR).is_empty());
    stage.down(PIECES, Code::Crashed);
    assert_eq!(stage.wait(MINUTE), ["show 0: PiecesOS quit unexpectedly"]);
}

#[test]
fn one_that_does_not_come_back_from_a_restart_in_the_dashboard_is_told_so() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.wait(MINUTE);
    touched(&mut stage, 0, true);
    assert!(stage.seen().is_empty());
    assert!(stage.wait(59 * SECOND).is_empty());
    assert_eq!(stage.wait(SECOND), ["replace 0: PiecesOS did not come back"]);
}

#[test]
fn a_tray_that_starts_long_after_somebody_acted_tells_as_usual() {
    for restarts in [true, false] {
        let mut stage = Stage::new();
        touched(&mut stage, HOUR, restarts);
        stage.down(PIECES, Code::Crashed);
        assert_eq!(stage.wait(MINUTE), ["show 0: PiecesOS quit unexpectedly"]);
    }
}

#[test]
fn a_crash_long_after_a_restart_is_told_as_one() {
    let mut stage = Stage::new();
    stage.act(&restart());
    stage.wait(HOUR);
    stage.down(PIECES, Code::Crashed);
    assert_eq!(stage.wait(MINUTE), ["show 0: PiecesOS quit unexpectedly"]);
}

#[test]
fn one_that_does_not_come_back_from_a_restart_is_told_so() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.wait(MINUTE);
    stage.act(&restart());
    assert!(stage.wait(59 * SECOND).is_empty());
    assert_eq!(stage.wait(SECOND), ["replace 0: PiecesOS did not come back"]);
    assert_eq!(stage.up(PIECES), ["replace 0: PiecesOS is back"]);
}

#[test]
fn a_restart_that_failed_is_told_at_once() {
    let mut stage = Stage::new();
    stage.restart(1, Some(Some(Code::NotRunning)));
    stage.down(PIECES, Code::Quit);
    assert!(stage.wait(MINUTE).is_empty());
    assert!(stage.act(&restart()).is_empty());
    assert!(stage.restart(2, None).is_empty());
    assert_eq!(
        stage.restart(2, Some(Some(Code::NotRunning))),
        ["show 0: PiecesOS did not come back"]
    );
}

#[test]
fn a_restart_pressed_in_the_notice_ends_in_the_same_notice() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.wait(MINUTE);
    assert!(stage.act(&restart()).is_empty());
    stage.restart(1, None);
    stage.restart(1, Some(None));
    assert_eq!(stage.up(PIECES), ["replace 0: PiecesOS is back"]);
}

#[test]
fn what_is_paused_or_turned_off_is_no_trouble() {
    for link in [Link::Paused { since: 1 }, Link::Off] {
        let mut stage = Stage::new();
        stage.down(PIECES, Code::Crashed);
        stage.wait(MINUTE);
        assert!(stage.act(&Act::Touch(Some(PIECES.into()))).is_empty());
        assert_eq!(stage.link(PIECES, link), ["withdraw 0"]);
        assert!(stage.wait(HOUR).is_empty());
        stage.link(PIECES, Link::Connecting);
        stage.down(PIECES, Code::NotRunning);
        assert!(stage.wait(HOUR).is_empty(), "nobody missed it before it was there again");
    }
}

#[test]
fn while_a_person_pauses_everything_nothing_is_told() {
    let mut stage = Stage::new();
    stage.act(&Act::Touch(None));
    stage.down(PIECES, Code::ConnectionLost);
    stage.down(NOTES, Code::Crashed);
    assert!(stage.wait(59 * SECOND).is_empty());
}

#[test]
fn what_is_ignored_for_today_is_heard_of_tomorrow() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Timeout);
    stage.wait(MINUTE);
    let until = stage.now.wall + 10 * HOUR;
    let ignore = Act::Ignore { upstream: PIECES.into(), until };
    assert_eq!(stage.act(&ignore), ["withdraw 0"]);
    assert!(stage.up(PIECES).is_empty());
    stage.down(PIECES, Code::Crashed);
    assert!(stage.wait(11 * HOUR).is_empty());
    stage.up(PIECES);
    stage.down(PIECES, Code::Crashed);
    assert_eq!(stage.wait(MINUTE), ["show 1: PiecesOS quit unexpectedly"]);
}

#[test]
fn who_quits_leaves_nothing_behind() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Timeout);
    stage.wait(MINUTE);
    assert_eq!(stage.act(&Act::Quit), ["withdraw 0"]);
    stage.down(NOTES, Code::Crashed);
    assert!(stage.wait(HOUR).is_empty());
}
