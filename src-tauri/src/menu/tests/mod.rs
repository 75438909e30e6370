//! The menu in every state, as the user reads it.

mod editors;
mod growth;
mod no_gateway;
mod restarting;
mod serving;

use evermoor_core::api::{AppStatus, RestartProgress, SignInStatus, UpstreamState, UpstreamStatus};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::app::state::NextStep;

use super::*;

const MINUTE: u64 = 60_000;
/// Three hours after everything was connected.
const NOW: u64 = 181 * MINUTE;

fn connected() -> UpstreamState {
    UpstreamState::Connected { since: MINUTE, server: "server".into() }
}

fn down(code: Code, what: &str) -> UpstreamState {
    let failure = Failure::new(code, what, "It is being tried again.");
    UpstreamState::Down { since: 1, retry_at: 2, attempts: 3, failure }
}

fn upstream(title: &str, tools: u32, link: UpstreamState) -> UpstreamStatus {
    let name = title.to_lowercase();
    let endpoint = format!("http://127.0.0.1:7420/mcp/{name}");
    let (title, target) = (title.into(), "http://x/mcp".into());
    UpstreamStatus {
        name,
        title,
        kind: None,
        target,
        endpoint,
        link,
        tools,
        hidden: 0,
        app: None,
        touched: None,
        sign_in: None,
    }
}

/// An application whose suggested next step is `next`.
fn app(next: NextStep, restart: Option<RestartProgress>) -> AppStatus {
    AppStatus {
        word: String::new(),
        what: String::new(),
        remedy: String::new(),
        next,
        notes: vec![],
        version: None,
        port: None,
        pid: None,
        memory: None,
        load: None,
        trend: None,
        offer: None,
        memory_alarm: None,
        signed_out: false,
        gave_up: false,
        restart,
    }
}

pub(crate) fn status(upstreams: Vec<UpstreamStatus>) -> Status {
    Status::of("1".into(), 1, "http://127.0.0.1:7420/mcp".into(), upstreams, vec![])
}

fn serving(upstreams: Vec<UpstreamStatus>) -> TrayState {
    state(Presence::Serving { status: status(upstreams) })
}

fn state(presence: Presence) -> TrayState {
    let off = Update::Off { reason: "no key".into() };
    TrayState { now: NOW, ..TrayState::new(presence, off) }
}

fn drawn(state: &TrayState) -> String {
    fn draw(items: &[Item], depth: usize, page: &mut String) {
        for item in items {
            let (text, children): (String, &[Item]) = match item {
                Item::Line(text) => (format!("({text})"), &[]),
                Item::Button { text, action, enabled: true } => {
                    (format!("{text} [{}]", action.id()), &[])
                }
                Item::Button { text, .. } => (format!("({text})"), &[]),
                Item::Check { text, action, on } => {
                    let tick = if *on { 'x' } else { ' ' };
                    (format!("[{tick}] {text} [{}]", action.id()), &[])
                }
                Item::Submenu { text, items } => (format!("{text} >"), items),
                Item::Separator => ("---".into(), &[]),
            };
            page.push_str(&format!("{}{text}\n", "  ".repeat(depth)));
            draw(children, depth + 1, page);
        }
    }
    let items = items(state);
    assert!(count(&items) <= ROWS, "more than {ROWS} rows");
    let mut page = String::new();
    draw(&items, 0, &mut page);
    page
}

/// The rows above those that every menu ends with.
fn head(state: &TrayState) -> String {
    let page = drawn(state);
    let end = page.find("---\nOpen Evermoor").unwrap();
    page[..end].to_owned()
}

#[test]
fn every_menu_ends_with_the_same_rows() {
    insta::assert_snapshot!(drawn(&state(Presence::Starting)), @r"
    Evermoor is starting [show #/]
    ---
    Open Evermoor… [open]
    Settings… [show #/settings]
    [ ] Launch at login [login]
    Quit Evermoor [quit]
    ");
}

#[test]
fn an_application_that_will_vanish_offers_to_move_and_cannot_be_launched_at_login() {
    let page = drawn(&TrayState { must_move: true, ..state(Presence::Starting) });
    assert!(page.contains("Move Evermoor to Applications [relocate]"), "{page}");
    assert!(!page.contains("Launch at login"), "{page}");
}

#[test]
fn the_last_rows_say_what_quitting_does_and_what_an_update_waits_for() {
    let mut state = serving(vec![]);
    state.login = true;
    if let Presence::Serving { status } = &mut state.presence {
        status.tray.quit_stops_gateway = true;
    }
    let end = |update: Update| {
        let page = drawn(&TrayState { update, ..state.clone() });
        page[page.find("Open Evermoor").unwrap()..].to_owned()
    };
    insta::assert_snapshot!(end(Update::Available { version: "1.4.0".into() }), @r"
    Open Evermoor… [open]
    Settings… [show #/settings]
    [x] Launch at login [login]
    Restart to update to 1.4.0 [update]
    Quit Evermoor and stop the gateway [quit]
    ");
    let waiting = end(Update::Waiting { version: "1.4.0".into() });
    assert!(waiting.contains("(Updating to 1.4.0 once running calls finish)"), "{waiting}");
    let failed = end(Update::Failed { version: None, reason: "no network".into() });
    assert!(!failed.contains("pdate"), "a failed check is shown in the settings: {failed}");
}

#[test]
fn the_tooltip_counts_what_is_connected() {
    let broken = || upstream("C", 1, down(Code::Timeout, "It does not answer."));
    let all = |upstreams| tooltip(&serving(upstreams).presence);
    let (a, b) = (|| upstream("A", 1, connected()), || upstream("B", 1, connected()));
    assert_eq!(all(vec![a()]), "Evermoor – 1 server connected");
    assert_eq!(all(vec![a(), b()]), "Evermoor – all 2 servers connected");
    assert_eq!(all(vec![a(), b(), broken()]), "Evermoor – 2 of 3 servers connected");
    assert_eq!(
        all(vec![a(), upstream("D", 1, UpstreamState::Off)]),
        "Evermoor – 1 server connected"
    );
    assert_eq!(all(vec![]), "Evermoor – No servers are set up yet");
    assert_eq!(tooltip(&Presence::Starting), "Evermoor is starting");
}
