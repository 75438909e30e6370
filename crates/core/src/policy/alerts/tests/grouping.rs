//! Several that fail at the same time are one notice.

use super::*;

#[test]
fn two_that_fail_within_fifteen_seconds_share_a_notice() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    assert_eq!(stage.wait(15 * SECOND), ["show 0: PiecesOS quit unexpectedly"]);
    stage.down(NOTES, Code::Crashed);
    assert_eq!(stage.wait(MINUTE), ["replace 0: 2 apps stopped responding"]);
}

#[test]
fn two_that_fail_further_apart_do_not() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.wait(15 * SECOND + 1);
    stage.down(NOTES, Code::Crashed);
    assert_eq!(stage.wait(MINUTE), ["show 1: Notes quit unexpectedly"]);
}

#[test]
fn several_that_are_due_at_once_are_told_at_once() {
    let mut stage = Stage::new();
    for name in [PIECES, NOTES, GITHUB] {
        stage.upstream(name).link = down(Code::Timeout, 1);
    }
    stage.seen();
    assert_eq!(stage.wait(MINUTE), ["show 0: 3 apps stopped responding"]);
}

#[test]
fn the_notice_follows_who_comes_back() {
    let mut stage = Stage::new();
    for name in [PIECES, NOTES, GITHUB] {
        stage.down(name, Code::Crashed);
    }
    stage.wait(MINUTE);
    assert_eq!(stage.up(NOTES), ["replace 0: 2 apps stopped responding"]);
    assert_eq!(stage.up(GITHUB), ["replace 0: PiecesOS quit unexpectedly"]);
    assert_eq!(stage.up(PIECES), ["replace 0: 3 apps are back"]);
    assert_eq!(stage.down(NOTES, Code::Crashed), ["withdraw 0"]);
}

#[test]
fn who_recovers_and_fails_again_is_no_longer_in_the_notice() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.down(NOTES, Code::Crashed);
    stage.wait(MINUTE);
    assert_eq!(stage.up(NOTES), ["replace 0: PiecesOS quit unexpectedly"]);
    assert!(stage.down(NOTES, Code::Crashed).is_empty());
    assert_eq!(stage.up(PIECES), ["replace 0: PiecesOS is back"]);
}

#[test]
fn what_changes_while_muted_is_written_when_the_mute_ends() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.down(NOTES, Code::Crashed);
    stage.wait(MINUTE);
    stage.alerts.network_changed(stage.now);
    assert!(stage.up(NOTES).is_empty());
    assert_eq!(stage.wait(MINUTE), ["replace 0: PiecesOS quit unexpectedly"]);
}
