//! The texts of all alerts.

use super::*;

fn read(orders: &[Order]) -> String {
    let one = |order: &Order| match order {
        Order::Show(_, notice) | Order::Replace(_, notice) => {
            let buttons: Vec<&str> = notice.buttons.iter().map(|button| button.label()).collect();
            let (title, body, to) = (&notice.title, &notice.body, &notice.leads_to);
            let sound = if notice.quiet { " (quiet)" } else { "" };
            format!("{title}{sound}\n  {body}\n  [{}] {to:?}\n", buttons.join("] ["))
        }
        Order::Withdraw(_) => "(withdrawn)\n".to_owned(),
    };
    orders.iter().map(one).collect()
}

/// The alert about this failure of this upstream.
fn about(name: &str, code: Code) -> String {
    let mut fixture = Fixture::new();
    fixture.upstream(name).link = down(code, 1);
    let at_once = read(&fixture.alerts.see(&fixture.status, fixture.now));
    fixture.pass(MINUTE);
    at_once + &read(&fixture.alerts.look(fixture.now))
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
    all += &read(&fixture.alerts.look(fixture.now));
    for name in [PIECES, NOTES] {
        fixture.upstream(name).link = connected();
    }
    all += &read(&fixture.alerts.see(&fixture.status, fixture.now));
    fixture.status.tray.notifications = Notifications::All;
    fixture.status.endpoint = "http://127.0.0.1:7421/mcp".into();
    all += &read(&fixture.alerts.see(&fixture.status, fixture.now));
    all += &read(&fixture.alerts.update_is_ready("1.4.0", fixture.now));
    fixture.alerts.lose(&failure(Code::PortTaken), fixture.now);
    fixture.pass(MINUTE);
    all += &read(&fixture.alerts.look(fixture.now));
    insta::assert_snapshot!(all);
}

#[test]
fn a_button_is_read_back_from_its_key() {
    for button in Button::ALL {
        assert_eq!(Button::parse(button.key()), Some(button));
    }
    assert_eq!(Button::parse("default"), None);
}
