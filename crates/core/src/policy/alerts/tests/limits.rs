//! How often a person is disturbed, and when not at all.

use super::*;

/// It goes down for a minute.
fn fails(stage: &mut Stage, name: &str) -> Vec<String> {
    let mut said = stage.down(name, Code::Crashed);
    said.extend(stage.wait(MINUTE));
    said.extend(stage.up(name));
    said
}

#[test]
fn the_same_trouble_is_told_once_in_ten_minutes() {
    let mut stage = Stage::new();
    assert_eq!(
        fails(&mut stage, PIECES),
        ["show 0: PiecesOS quit unexpectedly", "replace 0: PiecesOS is back"]
    );
    assert_eq!(fails(&mut stage, PIECES), ["withdraw 0"]);
    stage.down(PIECES, Code::Crashed);
    assert_eq!(stage.wait(8 * MINUTE - 1), Vec::<String>::new());
    assert_eq!(stage.wait(6 * SECOND), ["show 1: PiecesOS quit unexpectedly"], "it still lasts");
}

#[test]
fn another_trouble_of_the_same_upstream_is_told() {
    let mut stage = Stage::new();
    fails(&mut stage, PIECES);
    stage.down(PIECES, Code::Timeout);
    assert_eq!(stage.wait(MINUTE), ["show 1: PiecesOS is not responding"]);
}

#[test]
fn after_four_in_an_hour_there_is_one_that_sums_up_and_then_silence() {
    let mut stage = Stage::new();
    let mut said = Vec::new();
    for _ in 0..3 {
        for name in [PIECES, NOTES, GITHUB] {
            said.extend(fails(&mut stage, name).into_iter().filter(|it| it.starts_with("show")));
        }
        stage.wait(10 * MINUTE);
    }
    assert_eq!(
        said,
        [
            "show 0: PiecesOS quit unexpectedly",
            "show 1: Notes quit unexpectedly",
            "show 2: GitHub quit unexpectedly",
            "show 3: PiecesOS quit unexpectedly",
            "show 4: Several apps are having trouble",
        ]
    );
    stage.wait(HOUR);
    assert_eq!(fails(&mut stage, NOTES)[0], "show 5: Notes quit unexpectedly");
}

#[test]
fn what_was_only_summed_up_is_not_told_to_be_back() {
    let mut stage = Stage::new();
    for name in [PIECES, NOTES, GITHUB] {
        fails(&mut stage, name);
    }
    stage.wait(10 * MINUTE);
    fails(&mut stage, PIECES);
    assert_eq!(fails(&mut stage, NOTES), ["withdraw 1", "show 4: Several apps are having trouble"]);
}

#[test]
fn nothing_is_told_within_45_seconds_of_a_wake_and_what_lasts_is_told_then() {
    let mut stage = Stage::new();
    stage.status.muted_until = Some(stage.now.wall + 45 * SECOND);
    stage.down(PIECES, Code::Crashed);
    assert!(stage.wait(45 * SECOND - 1).is_empty());
    assert_eq!(stage.wait(1), ["show 0: PiecesOS quit unexpectedly"]);
}

#[test]
fn a_mute_from_a_clock_that_is_wrong_ends_all_the_same() {
    let mut stage = Stage::new();
    stage.status.muted_until = Some(u64::MAX);
    stage.down(PIECES, Code::Crashed);
    stage.status.muted_until = None;
    assert_eq!(stage.wait(46 * SECOND), ["show 0: PiecesOS quit unexpectedly"]);
}

#[test]
fn a_sleep_mutes_although_nobody_told_of_it() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.now.wall += 8 * HOUR;
    assert!(stage.wait(45 * SECOND).is_empty());
    assert_eq!(stage.wait(5 * SECOND), ["show 0: PiecesOS quit unexpectedly"]);
}

#[test]
fn what_recovers_after_a_wake_takes_its_notice_away_in_silence() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.wait(MINUTE);
    stage.status.muted_until = Some(stage.now.wall + 45 * SECOND);
    assert_eq!(stage.up(PIECES), ["withdraw 0"]);
    assert!(stage.wait(HOUR).is_empty());
}

#[test]
fn a_login_and_another_network_mute_too() {
    let mut stage = Stage::at(true);
    stage.down(PIECES, Code::Crashed);
    assert!(stage.wait(44 * SECOND).is_empty());
    assert_eq!(stage.wait(SECOND), ["show 0: PiecesOS quit unexpectedly"]);
    let mut stage = Stage::new();
    stage.down(GITHUB, Code::DnsFailure);
    assert!(stage.alerts.network_changed(stage.now).is_empty());
    assert!(stage.wait(44 * SECOND).is_empty());
    assert!(stage.up(GITHUB).is_empty());
}

#[test]
fn who_wants_to_hear_nothing_hears_nothing_and_not_later_either() {
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.wait(MINUTE);
    stage.status.tray.notifications = Notifications::None;
    assert_eq!(stage.seen(), ["withdraw 0"]);
    stage.down(NOTES, Code::Crashed);
    assert!(stage.wait(HOUR).is_empty());
    stage.status.tray.notifications = Notifications::Problems;
    assert!(stage.seen().is_empty());
    assert!(stage.wait(HOUR).is_empty());
}

#[test]
fn only_who_wants_to_hear_everything_hears_of_what_is_no_problem() {
    for (level, wanted) in [
        (Notifications::All, vec!["show 0: Evermoor has another address"]),
        (Notifications::Problems, vec![]),
        (Notifications::None, vec![]),
    ] {
        let mut stage = Stage::new();
        stage.status.tray.notifications = level;
        stage.status.endpoint = "http://127.0.0.1:7421/mcp".into();
        assert_eq!(stage.seen(), wanted);
        let orders = stage.alerts.update_is_ready("2.0.0", stage.now);
        assert_eq!(orders.len(), wanted.len());
        assert!(stage.alerts.update_is_ready("2.0.0", stage.now).is_empty(), "once per version");
    }
}
