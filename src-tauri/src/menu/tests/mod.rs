//! Every state of the menu, as a person would read it.

mod editors;
mod growth;
mod no_gateway;
mod restarting;
mod serving;

use evermoor_core::api::{AppStatus, RestartProgress, UpstreamState, UpstreamStatus};
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
        target,
        endpoint,
        link,
        tools,
        hidden: 0,
        app: None,
        touched: None,
    }
}

/// An application, of which this would help.
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

fn status(upstreams: Vec<UpstreamStatus>) -> Status {
    Status::of("1".into(), 1, "http://127.0.0.1:7420/mcp".into(), upstreams, vec![])
}

fn serving(upstreams: Vec<UpstreamStatus>) -> Known {
    known(Presence::Serving { status: status(upstreams) })
}

fn known(presence: Presence) -> Known {
    let off = Update::Off { reason: "no key".into() };
    Known { now: NOW, ..Known::new(presence, off) }
}

fn drawn(known: &Known) -> String {
    fn draw(items: &[Item], depth: usize, page: &mut String) {
        for item in items {
            let (text, inside): (String, &[Item]) = match item {
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
            draw(inside, depth + 1, page);
        }
    }
    let items = items(known);
    assert!(count(&items) <= ROWS, "more than {ROWS} rows");
    let mut page = String::new();
    draw(&items, 0, &mut page);
    page
}

/// The rows above the end that all menus share.
fn head(known: &Known) -> String {
    let page = drawn(known);
    let end = page.find("---\nOpen Evermoor").unwrap();
    page[..end].to_owned()
}

#[test]
fn every_menu_ends_with_the_same_rows() {
    insta::assert_snapshot!(drawn(&known(Presence::Starting)), @r"
    Evermoor is starting [show #/]
    ---
    Open Evermoor… [open]
    Settings… [show #/settings]
    [ ] Launch at login [login]
    Quit Evermoor [quit]
    ");
}

#[test]
fn the_end_tells_what_quitting_does_and_what_an_update_waits_for() {
    let mut known = serving(vec![]);
    known.login = true;
    if let Presence::Serving { status } = &mut known.presence {
        status.tray.quit_stops_gateway = true;
    }
    let end = |update: Update| {
        let page = drawn(&Known { update, ..known.clone() });
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
    assert!(waiting.contains("(Updates to 1.4.0 when no call is under way)"), "{waiting}");
    let failed = end(Update::Failed { version: None, reason: "no network".into() });
    assert!(!failed.contains("pdate"), "what failed is told in the settings: {failed}");
}

#[test]
fn the_tooltip_counts_what_is_connected() {
    let broken = || upstream("C", 1, down(Code::Timeout, "It does not answer."));
    let all = |upstreams| tooltip(&serving(upstreams).presence);
    let (a, b) = (|| upstream("A", 1, connected()), || upstream("B", 1, connected()));
    assert_eq!(all(vec![a()]), "Evermoor – 1 app connected");
    assert_eq!(all(vec![a(), b()]), "Evermoor – all 2 apps connected");
    assert_eq!(all(vec![a(), b(), broken()]), "Evermoor – 2 of 3 apps connected");
    assert_eq!(all(vec![a(), upstream("D", 1, UpstreamState::Off)]), "Evermoor – 1 app connected");
    assert_eq!(all(vec![]), "Evermoor – No servers are set up yet");
    assert_eq!(tooltip(&Presence::Starting), "Evermoor – Evermoor is starting");
}
