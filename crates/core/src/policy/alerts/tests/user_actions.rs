//! The effects of the user's own actions are not announced.

use super::*;
use crate::api::UserAction;

fn restart() -> TrayAction {
    TrayAction::Restart(PIECES.into())
}

#[test]
fn a_restart_by_the_user_is_not_announced() {
    let mut fixture = Fixture::new();
    fixture.act(&restart());
    fixture.down(PIECES, Code::ConnectionLost);
    assert!(fixture.wait(50 * SECOND).is_empty());
    assert!(fixture.up(PIECES).is_empty());
    assert!(fixture.wait(HOUR).is_empty());
}

/// The gateway reports that the user acted on PiecesOS in the dashboard.
fn user_acted(fixture: &mut Fixture, ago: u64, restarts: bool) {
    let at = fixture.now.wall - ago;
    fixture.upstream(PIECES).touched = Some(UserAction { at, restarts });
}

#[test]
fn a_restart_in_the_dashboard_is_not_announced_but_a_later_crash_is() {
    let mut fixture = Fixture::new();
    user_acted(&mut fixture, SECOND, true);
    fixture.down(PIECES, Code::ConnectionLost);
    assert!(fixture.wait(50 * SECOND).is_empty());
    assert!(fixture.up(PIECES).is_empty());
    assert!(fixture.wait(HOUR).is_empty());
    fixture.down(PIECES, Code::Crashed);
    assert_eq!(fixture.wait(MINUTE), ["show 0: PiecesOS quit unexpectedly"]);
}

#[test]
fn a_restart_in_the_dashboard_that_fails_is_announced() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.wait(MINUTE);
    user_acted(&mut fixture, 0, true);
    assert!(fixture.seen().is_empty());
    assert!(fixture.wait(59 * SECOND).is_empty());
    assert_eq!(fixture.wait(SECOND), ["replace 0: PiecesOS did not restart"]);
}

#[test]
fn an_action_long_before_the_tray_started_has_no_effect() {
    for restarts in [true, false] {
        let mut fixture = Fixture::new();
        user_acted(&mut fixture, HOUR, restarts);
        fixture.down(PIECES, Code::Crashed);
        assert_eq!(fixture.wait(MINUTE), ["show 0: PiecesOS quit unexpectedly"]);
    }
}

#[test]
fn a_crash_long_after_a_restart_is_announced_as_a_crash() {
    let mut fixture = Fixture::new();
    fixture.act(&restart());
    fixture.wait(HOUR);
    fixture.down(PIECES, Code::Crashed);
    assert_eq!(fixture.wait(MINUTE), ["show 0: PiecesOS quit unexpectedly"]);
}

#[test]
fn a_server_that_is_not_back_in_time_after_a_restart_is_announced() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.wait(MINUTE);
    fixture.act(&restart());
    assert!(fixture.wait(59 * SECOND).is_empty());
    assert_eq!(fixture.wait(SECOND), ["replace 0: PiecesOS did not restart"]);
    assert_eq!(fixture.up(PIECES), ["replace 0: PiecesOS is back"]);
}

#[test]
fn a_failed_restart_is_announced_at_once() {
    let mut fixture = Fixture::new();
    fixture.restart(1, Some(Some(Code::NotRunning)));
    fixture.down(PIECES, Code::Quit);
    assert!(fixture.wait(MINUTE).is_empty());
    assert!(fixture.act(&restart()).is_empty());
    assert!(fixture.restart(2, None).is_empty());
    assert_eq!(
        fixture.restart(2, Some(Some(Code::NotRunning))),
        ["show 0: PiecesOS did not restart"]
    );
}

#[test]
fn a_restart_from_the_alert_ends_in_the_same_alert() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.wait(MINUTE);
    assert!(fixture.act(&restart()).is_empty());
    fixture.restart(1, None);
    fixture.restart(1, Some(None));
    assert_eq!(fixture.up(PIECES), ["replace 0: PiecesOS is back"]);
}

#[test]
fn pausing_or_turning_off_withdraws_the_alert() {
    for link in [UpstreamState::Paused { since: 1 }, UpstreamState::Off] {
        let mut fixture = Fixture::new();
        fixture.down(PIECES, Code::Crashed);
        fixture.wait(MINUTE);
        assert!(fixture.act(&TrayAction::Manage(Some(PIECES.into()))).is_empty());
        assert_eq!(fixture.link(PIECES, link), ["withdraw 0"]);
        assert!(fixture.wait(HOUR).is_empty());
        fixture.link(PIECES, UpstreamState::Connecting);
        fixture.down(PIECES, Code::NotRunning);
        assert!(fixture.wait(HOUR).is_empty(), "it has not been connected since");
    }
}

#[test]
fn nothing_is_announced_while_the_user_pauses_everything() {
    let mut fixture = Fixture::new();
    fixture.act(&TrayAction::Manage(None));
    fixture.down(PIECES, Code::ConnectionLost);
    fixture.down(NOTES, Code::Crashed);
    assert!(fixture.wait(59 * SECOND).is_empty());
}

#[test]
fn an_ignored_server_is_announced_again_the_next_day() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Timeout);
    fixture.wait(MINUTE);
    let until = fixture.now.wall + 10 * HOUR;
    let ignore = TrayAction::Ignore { upstream: PIECES.into(), until };
    assert_eq!(fixture.act(&ignore), ["withdraw 0"]);
    assert!(fixture.up(PIECES).is_empty());
    fixture.down(PIECES, Code::Crashed);
    assert!(fixture.wait(11 * HOUR).is_empty());
    fixture.up(PIECES);
    fixture.down(PIECES, Code::Crashed);
    assert_eq!(fixture.wait(MINUTE), ["show 1: PiecesOS quit unexpectedly"]);
}

#[test]
fn quitting_withdraws_every_alert() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Timeout);
    fixture.wait(MINUTE);
    assert_eq!(fixture.act(&TrayAction::Quit), ["withdraw 0"]);
    fixture.down(NOTES, Code::Crashed);
    assert!(fixture.wait(HOUR).is_empty());
}
