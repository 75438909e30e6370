//! How often the user is alerted, and when not at all.

use super::*;

/// The upstream is down for a minute.
fn outage(fixture: &mut Fixture, name: &str) -> Vec<String> {
    let mut shown = fixture.down(name, Code::Crashed);
    shown.extend(fixture.wait(MINUTE));
    shown.extend(fixture.up(name));
    shown
}

#[test]
fn the_same_problem_is_announced_once_in_ten_minutes() {
    let mut fixture = Fixture::new();
    assert_eq!(
        outage(&mut fixture, PIECES),
        ["show 0: PiecesOS quit unexpectedly", "replace 0: PiecesOS is back"]
    );
    assert_eq!(outage(&mut fixture, PIECES), ["withdraw 0"]);
    fixture.down(PIECES, Code::Crashed);
    assert_eq!(fixture.wait(8 * MINUTE - 1), Vec::<String>::new());
    assert_eq!(
        fixture.wait(6 * SECOND),
        ["show 1: PiecesOS quit unexpectedly"],
        "it is still down"
    );
}

#[test]
fn another_problem_of_the_same_upstream_is_announced() {
    let mut fixture = Fixture::new();
    outage(&mut fixture, PIECES);
    fixture.down(PIECES, Code::Timeout);
    assert_eq!(fixture.wait(MINUTE), ["show 1: PiecesOS is not responding"]);
}

#[test]
fn after_four_alerts_in_an_hour_there_is_one_summary_and_then_silence() {
    let mut fixture = Fixture::new();
    let mut shown = Vec::new();
    for _ in 0..3 {
        for name in [PIECES, NOTES, GITHUB] {
            let all = outage(&mut fixture, name).into_iter();
            shown.extend(all.filter(|it| it.starts_with("show")));
        }
        fixture.wait(10 * MINUTE);
    }
    assert_eq!(
        shown,
        [
            "show 0: PiecesOS quit unexpectedly",
            "show 1: Notes quit unexpectedly",
            "show 2: GitHub is not running",
            "show 3: PiecesOS quit unexpectedly",
            "show 4: Several servers are having problems",
        ]
    );
    fixture.wait(HOUR);
    assert_eq!(outage(&mut fixture, NOTES)[0], "show 5: Notes quit unexpectedly");
}

#[test]
fn the_recovery_of_a_summarised_outage_is_not_announced() {
    let mut fixture = Fixture::new();
    for name in [PIECES, NOTES, GITHUB] {
        outage(&mut fixture, name);
    }
    fixture.wait(10 * MINUTE);
    outage(&mut fixture, PIECES);
    assert_eq!(
        outage(&mut fixture, NOTES),
        ["withdraw 1", "show 4: Several servers are having problems"]
    );
}

#[test]
fn alerts_are_muted_for_45_seconds_after_a_wake_and_lasting_outages_are_announced_then() {
    let mut fixture = Fixture::new();
    fixture.status.muted_until = Some(fixture.now.wall + 45 * SECOND);
    fixture.down(PIECES, Code::Crashed);
    assert!(fixture.wait(45 * SECOND - 1).is_empty());
    assert_eq!(fixture.wait(1), ["show 0: PiecesOS quit unexpectedly"]);
}

#[test]
fn a_mute_until_a_nonsensical_time_still_ends() {
    let mut fixture = Fixture::new();
    fixture.status.muted_until = Some(u64::MAX);
    fixture.down(PIECES, Code::Crashed);
    fixture.status.muted_until = None;
    assert_eq!(fixture.wait(46 * SECOND), ["show 0: PiecesOS quit unexpectedly"]);
}

#[test]
fn a_sleep_mutes_even_if_the_system_did_not_report_it() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.now.wall += 8 * HOUR;
    assert!(fixture.wait(45 * SECOND).is_empty());
    assert_eq!(fixture.wait(5 * SECOND), ["show 0: PiecesOS quit unexpectedly"]);
}

#[test]
fn a_recovery_while_muted_withdraws_the_alert_silently() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.wait(MINUTE);
    fixture.status.muted_until = Some(fixture.now.wall + 45 * SECOND);
    assert_eq!(fixture.up(PIECES), ["withdraw 0"]);
    assert!(fixture.wait(HOUR).is_empty());
}

#[test]
fn a_login_and_a_change_of_network_mute_too() {
    let mut fixture = Fixture::at(true);
    fixture.down(PIECES, Code::Crashed);
    assert!(fixture.wait(44 * SECOND).is_empty());
    assert_eq!(fixture.wait(SECOND), ["show 0: PiecesOS quit unexpectedly"]);
    let mut fixture = Fixture::new();
    fixture.down(GITHUB, Code::DnsFailure);
    assert!(fixture.alerts.network_changed(fixture.now).is_empty());
    assert!(fixture.wait(44 * SECOND).is_empty());
    assert!(fixture.up(GITHUB).is_empty());
}

#[test]
fn outages_while_notifications_are_off_are_not_announced_later_either() {
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.wait(MINUTE);
    fixture.status.tray.notifications = NotificationLevel::None;
    assert_eq!(fixture.seen(), ["withdraw 0"]);
    fixture.down(NOTES, Code::Crashed);
    assert!(fixture.wait(HOUR).is_empty());
    fixture.status.tray.notifications = NotificationLevel::Problems;
    assert!(fixture.seen().is_empty());
    assert!(fixture.wait(HOUR).is_empty());
}

#[test]
fn alerts_that_are_not_problems_need_the_level_all() {
    for (level, wanted) in [
        (NotificationLevel::All, vec!["show 0: Evermoor has a new address"]),
        (NotificationLevel::Problems, vec![]),
        (NotificationLevel::None, vec![]),
    ] {
        let mut fixture = Fixture::new();
        fixture.status.tray.notifications = level;
        fixture.status.endpoint = "http://127.0.0.1:7421/mcp".into();
        assert_eq!(fixture.seen(), wanted);
        let orders = fixture.alerts.update_ready("2.0.0", fixture.now);
        assert_eq!(orders.len(), wanted.len());
        assert!(fixture.alerts.update_ready("2.0.0", fixture.now).is_empty(), "once per version");
    }
}
