//! The texts of all alerts.

use super::*;

fn read(orders: &[AlertCommand]) -> String {
    let one = |order: &AlertCommand| match order {
        AlertCommand::Show(_, notice) | AlertCommand::Replace(_, notice) => {
            let buttons: Vec<&str> = notice.buttons.iter().map(|button| button.label()).collect();
            let (title, body, to) = (&notice.title, &notice.body, &notice.target);
            let sound = if notice.quiet { " (quiet)" } else { "" };
            format!("{title}{sound}\n  {body}\n  [{}] {to:?}\n", buttons.join("] ["))
        }
        AlertCommand::Withdraw(_) => "(withdrawn)\n".to_owned(),
    };
    orders.iter().map(one).collect()
}

/// The alert about this failure of this upstream.
fn about(name: &str, code: Code) -> String {
    let mut fixture = Fixture::new();
    fixture.upstream(name).link = down(code, 1);
    let at_once = read(&fixture.alerts.observe(&fixture.status, fixture.now));
    fixture.pass(MINUTE);
    at_once + &read(&fixture.alerts.evaluate(fixture.now))
}

#[test]
fn every_alert_says_what_happened_and_what_to_do() {
    let mut all = String::new();
    for name in [PIECES, GITHUB] {
        for code in [
            Code::Crashed,
            Code::Timeout,
            Code::ConnectTimeout,
            Code::Starting,
            Code::AuthRequired,
            Code::CrashLoop,
        ] {
            all += &about(name, code);
        }
    }
    let mut fixture = Fixture::new();
    fixture.down(PIECES, Code::Crashed);
    fixture.down(NOTES, Code::Crashed);
    fixture.pass(MINUTE);
    all += &read(&fixture.alerts.evaluate(fixture.now));
    for name in [PIECES, NOTES] {
        fixture.upstream(name).link = connected();
    }
    all += &read(&fixture.alerts.observe(&fixture.status, fixture.now));
    fixture.status.tray.notifications = NotificationLevel::All;
    fixture.status.endpoint = "http://127.0.0.1:7421/mcp".into();
    all += &read(&fixture.alerts.observe(&fixture.status, fixture.now));
    all += &read(&fixture.alerts.update_ready("1.4.0", fixture.now));
    fixture.alerts.gateway_lost(&failure(Code::PortTaken), fixture.now);
    fixture.pass(MINUTE);
    all += &read(&fixture.alerts.evaluate(fixture.now));
    insta::assert_snapshot!(all);
}

#[test]
fn a_button_is_read_back_from_its_key() {
    for button in AlertButton::ALL {
        assert_eq!(AlertButton::parse(button.key()), Some(button));
    }
    assert_eq!(AlertButton::parse("default"), None);
}
