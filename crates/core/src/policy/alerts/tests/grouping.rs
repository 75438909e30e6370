//! Outages that begin at the same time share an alert.

use super::*;

#[test]
fn two_outages_within_fifteen_seconds_share_an_alert() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    assert_eq!(fixture.wait(15 * SECOND), ["show 0: PiecesOS quit unexpectedly"]);
    fixture.down(NOTES, Code::Crashed);
    assert_eq!(fixture.wait(MINUTE), ["replace 0: 2 servers are down"]);
}

#[test]
fn two_outages_further_apart_do_not() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.wait(15 * SECOND + 1);
    fixture.down(NOTES, Code::Crashed);
    assert_eq!(fixture.wait(MINUTE), ["show 1: Notes quit unexpectedly"]);
}

#[test]
fn outages_that_are_due_together_are_announced_together() {
    let mut fixture = Fixture::new();
    for name in [PIECES, NOTES, GITHUB] {
        fixture.upstream(name).link = down(Code::Timeout, 1);
    }
    fixture.seen();
    assert_eq!(fixture.wait(MINUTE), ["show 0: 3 servers are down"]);
}

#[test]
fn the_alert_changes_as_servers_come_back() {
    let mut fixture = Fixture::new();
    for name in [PIECES, NOTES, GITHUB] {
        fixture.down(name, Code::Crashed);
    }
    fixture.wait(MINUTE);
    assert_eq!(fixture.up(NOTES), ["replace 0: 2 servers are down"]);
    assert_eq!(fixture.up(GITHUB), ["replace 0: PiecesOS quit unexpectedly"]);
    assert_eq!(fixture.up(PIECES), ["replace 0: 3 servers are back"]);
    assert_eq!(fixture.down(NOTES, Code::Crashed), ["withdraw 0"]);
}

#[test]
fn a_server_that_recovers_and_fails_again_is_no_longer_in_the_alert() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.down(NOTES, Code::Crashed);
    fixture.wait(MINUTE);
    assert_eq!(fixture.up(NOTES), ["replace 0: PiecesOS quit unexpectedly"]);
    assert!(fixture.down(NOTES, Code::Crashed).is_empty());
    assert_eq!(fixture.up(PIECES), ["replace 0: PiecesOS is back"]);
}

#[test]
fn changes_while_muted_are_shown_when_the_mute_ends() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.down(NOTES, Code::Crashed);
    fixture.wait(MINUTE);
    fixture.alerts.network_changed(fixture.now);
    assert!(fixture.up(NOTES).is_empty());
    assert_eq!(fixture.wait(MINUTE), ["replace 0: PiecesOS quit unexpectedly"]);
}
