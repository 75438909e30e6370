//! What a person reads, as a whole.

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

/// The notice about this trouble of this upstream.
fn about(name: &str, code: Code) -> String {
    let mut stage = Stage::new();
    stage.upstream(name).link = down(code, 1);
    let at_once = read(&stage.alerts.see(&stage.status, stage.now));
    stage.pass(MINUTE);
    at_once + &read(&stage.alerts.look(stage.now))
}

#[test]
fn every_notice_says_what_happened_and_what_to_do() {
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
    let mut stage = Stage::new();
    stage.down(PIECES, Code::Crashed);
    stage.down(NOTES, Code::Crashed);
    stage.pass(MINUTE);
    all += &read(&stage.alerts.look(stage.now));
    for name in [PIECES, NOTES] {
        stage.upstream(name).link = connected();
    }
    all += &read(&stage.alerts.see(&stage.status, stage.now));
    stage.status.tray.notifications = Notifications::All;
    stage.status.endpoint = "http://127.0.0.1:7421/mcp".into();
    all += &read(&stage.alerts.see(&stage.status, stage.now));
    all += &read(&stage.alerts.update_is_ready("1.4.0", stage.now));
    stage.alerts.lose(&failure(Code::PortTaken), stage.now);
    stage.pass(MINUTE);
    all += &read(&stage.alerts.look(stage.now));
    insta::assert_snapshot!(all);
}

#[test]
fn a_button_is_read_back_from_its_key() {
    for button in Button::ALL {
        assert_eq!(Button::parse(button.key()), Some(button));
    }
    assert_eq!(Button::parse("default"), None);
}
