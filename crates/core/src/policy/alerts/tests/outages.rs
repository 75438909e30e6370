//! When an outage is announced, and how it ends.

use super::*;

#[test]
fn an_exit_is_announced_after_five_seconds_and_one_failed_reconnect() {
    let mut fixture = Fixture::new();
    assert!(fixture.link(PIECES, down(Code::NotRunning, 0)).is_empty());
    assert!(fixture.wait(MINUTE).is_empty(), "no attempt to reconnect yet");
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    assert!(fixture.wait(4_999).is_empty());
    assert_eq!(fixture.wait(1), ["show 0: PiecesOS quit unexpectedly"]);
    assert!(fixture.wait(3 * HOUR).is_empty(), "once");
}

#[test]
fn an_unresponsive_server_is_announced_after_twenty_seconds() {
    let mut fixture = Fixture::new();
    fixture.link(PIECES, down(Code::Timeout, 0));
    assert!(fixture.wait(19_999).is_empty());
    assert_eq!(fixture.wait(1), ["show 0: PiecesOS is not responding"]);
}

#[test]
fn a_recovery_within_the_grace_period_is_not_announced() {
    for (code, away) in [(Code::Crashed, 4_999), (Code::Timeout, 19_999), (Code::Starting, 59_999)]
    {
        let mut fixture = Fixture::new();
        fixture.down(PIECES, code);
        assert!(fixture.wait(away).is_empty());
        assert!(fixture.up(PIECES).is_empty());
        assert!(fixture.wait(HOUR).is_empty());
    }
}

#[test]
fn the_grace_period_counts_from_the_beginning_of_the_outage() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Timeout);
    assert!(fixture.wait(10 * SECOND).is_empty());
    assert_eq!(fixture.down(PIECES, Code::Crashed), ["show 0: PiecesOS quit unexpectedly"]);
}

#[test]
fn nothing_is_announced_during_a_restart() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.restart(1, None);
    assert!(fixture.wait(MINUTE).is_empty());
    assert!(fixture.up(PIECES).is_empty());
    assert!(fixture.restart(1, Some(None)).is_empty());
    fixture.down(PIECES, Code::Crashed);
    fixture.restart(2, None);
    assert!(fixture.wait(MINUTE).is_empty());
    assert_eq!(
        fixture.restart(2, Some(Some(Code::NotRunning))),
        ["show 0: PiecesOS quit unexpectedly"]
    );
}

#[test]
fn a_recovery_silently_replaces_the_alert() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.wait(MINUTE);
    fixture.upstream(PIECES).link = connected();
    let orders = fixture.alerts.observe(&fixture.status, fixture.now);
    let [AlertCommand::Replace(AlertId(0), notice)] = orders.as_slice() else {
        panic!("{orders:?}")
    };
    assert_eq!(notice.title, "PiecesOS is back");
    assert_eq!(notice.body, "12 tools are available again.");
    assert!(notice.quiet && notice.buttons.is_empty());
}

#[test]
fn the_recovery_of_an_alert_that_was_not_shown_is_not_announced() {
    let mut fixture = Fixture::new();
    fixture.cannot_show = true;
    fixture.down(PIECES, Code::Crashed);
    assert_eq!(fixture.wait(MINUTE).len(), 1);
    assert!(fixture.up(PIECES).is_empty());
}

#[test]
fn a_recovery_is_withdrawn_when_the_server_goes_down_again() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.wait(MINUTE);
    assert_eq!(fixture.up(PIECES), ["replace 0: PiecesOS is back"]);
    assert_eq!(fixture.down(PIECES, Code::Crashed), ["withdraw 0"]);
}

#[test]
fn a_server_that_was_never_connected_is_not_announced() {
    for code in [Code::NotRunning, Code::Timeout, Code::Starting] {
        let mut fixture = Fixture::new();
        fixture.status.upstreams.push(UpstreamStatus {
            link: down(code, 1),
            ..upstream("new", "New", UpstreamKind::Address, None)
        });
        assert!(fixture.seen().is_empty());
        assert!(fixture.wait(HOUR).is_empty());
    }
}

#[test]
fn an_app_that_the_user_quit_or_uninstalled_is_not_announced() {
    for code in [Code::Quit, Code::NotInstalled] {
        let mut fixture = Fixture::new();
        fixture.down(PIECES, code);
        assert!(fixture.wait(HOUR).is_empty());
    }
}

#[test]
fn an_alert_about_an_app_that_the_user_quit_is_withdrawn() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::NotRunning);
    fixture.wait(6 * SECOND);
    assert_eq!(fixture.down(PIECES, Code::Quit), ["withdraw 0"]);
    assert!(fixture.up(PIECES).is_empty());
}

#[test]
fn a_crash_loop_is_announced_at_once_and_once() {
    let mut fixture = Fixture::new();
    fixture.upstream(PIECES).app.as_mut().unwrap().gave_up = true;
    assert_eq!(fixture.down(PIECES, Code::Crashed), ["show 0: PiecesOS keeps crashing"]);
    assert!(fixture.wait(3 * HOUR).is_empty());
    assert!(
        fixture.down(PIECES, Code::NotRunning).is_empty(),
        "a lesser problem does not replace it"
    );
}

#[test]
fn a_crash_loop_is_announced_even_if_the_server_was_never_connected() {
    let mut fixture = Fixture::new();
    let new = upstream("new", "New", UpstreamKind::Program, None);
    fixture.status.upstreams.push(UpstreamStatus { link: down(Code::CrashLoop, 4), ..new });
    assert_eq!(fixture.seen(), ["show 0: New keeps crashing"]);
}

#[test]
fn a_worse_problem_replaces_the_alert() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.wait(MINUTE);
    fixture.upstream(PIECES).app.as_mut().unwrap().gave_up = true;
    assert_eq!(fixture.seen(), ["replace 0: PiecesOS keeps crashing"]);
    assert_eq!(fixture.up(PIECES), ["replace 0: PiecesOS is back"]);
}

#[test]
fn a_required_sign_in_is_announced_once() {
    let mut fixture = Fixture::new();
    fixture.down(GITHUB, Code::AuthRequired);
    assert_eq!(fixture.wait(MINUTE), ["show 0: GitHub wants you to sign in"]);
    assert!(fixture.wait(5 * HOUR).is_empty());
}

#[test]
fn removing_a_server_withdraws_its_alert() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.wait(MINUTE);
    fixture.status.upstreams.remove(0);
    assert_eq!(fixture.seen(), ["withdraw 0"]);
    assert!(fixture.wait(HOUR).is_empty());
}

#[test]
fn while_the_gateway_is_down_only_that_is_announced() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    let lost = failure(Code::ConnectionLost);
    assert!(fixture.alerts.gateway_lost(&lost, fixture.now).is_empty());
    assert_eq!(fixture.wait(MINUTE), ["show 0: Evermoor stopped working"]);
    assert_eq!(
        fixture.seen(),
        ["replace 0: Evermoor is back", "show 1: PiecesOS quit unexpectedly"]
    );
}

fn sign(fixture: &mut Fixture, out: bool) -> Vec<String> {
    fixture.upstream(PIECES).app.as_mut().unwrap().signed_out = out;
    fixture.seen()
}

#[test]
fn an_app_that_is_signed_out_is_announced_once() {
    let mut fixture = Fixture::new();
    assert!(sign(&mut fixture, true).is_empty());
    assert_eq!(fixture.wait(MINUTE), ["show 0: PiecesOS wants you to sign in"]);
    assert!(fixture.seen().is_empty() && fixture.wait(12 * HOUR).is_empty());
    assert_eq!(sign(&mut fixture, false), ["replace 0: PiecesOS is back"]);
    assert!(fixture.wait(HOUR).is_empty());
    sign(&mut fixture, true);
    assert_eq!(fixture.wait(MINUTE), ["show 1: PiecesOS wants you to sign in"]);
}

#[test]
fn a_crash_while_signed_out_is_announced_as_a_crash() {
    let mut fixture = Fixture::new();
    sign(&mut fixture, true);
    fixture.wait(MINUTE);
    assert_eq!(fixture.down(PIECES, Code::Crashed), ["withdraw 0"]);
    assert_eq!(fixture.wait(MINUTE), ["show 1: PiecesOS quit unexpectedly"]);
}

#[test]
fn signing_in_again_at_once_prevents_the_alert() {
    let mut fixture = Fixture::new();
    sign(&mut fixture, true);
    fixture.wait(3 * SECOND);
    assert!(sign(&mut fixture, false).is_empty() && fixture.wait(HOUR).is_empty());
}
