//! Every state of the menu, as a person would read it.

mod off;

use evermoor_core::failure::{Code, Failure};
use insta::assert_snapshot;

use super::*;

fn connected() -> Link {
    Link::Connected { since: 1, server: "server".into() }
}

fn down(code: Code, what: &str) -> Link {
    let failure = Failure::new(code, what, "It is being tried again.");
    Link::Down { since: 1, retry_at: 2, attempts: 3, failure }
}

fn upstream(title: &str, tools: u32, link: Link) -> Upstream {
    let name = title.to_lowercase();
    let endpoint = format!("http://127.0.0.1:7420/mcp/{name}");
    let (title, target) = (title.into(), "http://x/mcp".into());
    Upstream { name, title, target, endpoint, link, tools, hidden: 0, app: None }
}

fn serving(upstreams: Vec<Upstream>) -> Presence {
    let endpoint = "http://127.0.0.1:7420/mcp".into();
    Presence::Serving { status: Status::of("1".into(), 1, endpoint, upstreams, vec![]) }
}

fn healthy() -> Presence {
    serving(vec![upstream("PiecesOS", 12, connected()), upstream("GitHub", 1, connected())])
}

fn one_down() -> Presence {
    let what = "Nothing listens at http://127.0.0.1:39300.";
    serving(vec![
        upstream("PiecesOS", 12, down(Code::ConnectionRefused, what)),
        upstream("GitHub", 1, connected()),
    ])
}

fn drawn(presence: &Presence) -> String {
    fn draw(items: &[Item], depth: usize, page: &mut String) {
        for item in items {
            let (text, inside): (String, &[Item]) = match item {
                Item::Line(text) => (format!("({text})"), &[]),
                Item::Button { text, action } => (format!("{text} [{}]", action.id()), &[]),
                Item::Submenu { text, items } => (format!("{text} >"), items),
                Item::Separator => ("---".into(), &[]),
            };
            page.push_str(&format!("{}{text}\n", "  ".repeat(depth)));
            draw(inside, depth + 1, page);
        }
    }
    let mut page = String::new();
    draw(&items(presence), 0, &mut page);
    page
}

#[test]
fn starting() {
    assert_snapshot!(drawn(&Presence::Starting), @r"
    Evermoor is starting [open]
    ---
    Open Evermoor… [open]
    Quit Evermoor [quit]
    ");
}

#[test]
fn nothing_set_up() {
    assert_snapshot!(drawn(&serving(vec![])), @r"
    No upstream is set up yet [open]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Open Evermoor… [open]
    Quit Evermoor [quit]
    ");
}

#[test]
fn healthy_upstreams() {
    assert_snapshot!(drawn(&healthy()), @r"
    All 2 upstreams are connected [open]
    ---
    PiecesOS — Connected >
      (12 tools)
      Restart PiecesOS [restart piecesos]
      Pause PiecesOS [pause piecesos]
    GitHub — Connected >
      (1 tool)
      Restart GitHub [restart github]
      Pause GitHub [pause github]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Pause [pause]
    Open Evermoor… [open]
    Quit Evermoor [quit]
    ");
}

#[test]
fn busy() {
    let presence = serving(vec![
        upstream("PiecesOS", 0, Link::Connecting),
        upstream("GitHub", 1, connected()),
    ]);
    assert_snapshot!(drawn(&presence), @r"
    Connecting to PiecesOS [open]
    ---
    PiecesOS — Connecting >
      (http://x/mcp)
      Restart PiecesOS [restart piecesos]
      Pause PiecesOS [pause piecesos]
    GitHub — Connected >
      (1 tool)
      Restart GitHub [restart github]
      Pause GitHub [pause github]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Pause [pause]
    Open Evermoor… [open]
    Quit Evermoor [quit]
    ");
}

#[test]
fn one_upstream_down_has_its_cure_on_top() {
    assert_snapshot!(drawn(&one_down()), @r"
    PiecesOS is not running [open]
    Restart PiecesOS [restart piecesos]
    ---
    PiecesOS — Not running >
      (Nothing listens at http://127.0.0.1:39300.)
      Restart PiecesOS [restart piecesos]
      Pause PiecesOS [pause piecesos]
    GitHub — Connected >
      (1 tool)
      Restart GitHub [restart github]
      Pause GitHub [pause github]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Pause [pause]
    Open Evermoor… [open]
    Quit Evermoor [quit]
    ");
}

#[test]
fn several_upstreams_down() {
    let presence = serving(vec![
        upstream("PiecesOS", 12, down(Code::Timeout, "PiecesOS does not answer.")),
        upstream("GitHub", 1, down(Code::AuthRequired, "GitHub wants a new sign-in.")),
        upstream("Files", 3, connected()),
    ]);
    assert_snapshot!(drawn(&presence), @r"
    2 of 3 upstreams are down [open]
    ---
    PiecesOS — Not responding >
      (PiecesOS does not answer.)
      Restart PiecesOS [restart piecesos]
      Pause PiecesOS [pause piecesos]
    GitHub — Needs sign-in >
      (GitHub wants a new sign-in.)
      Restart GitHub [restart github]
      Pause GitHub [pause github]
    Files — Connected >
      (3 tools)
      Restart Files [restart files]
      Pause Files [pause files]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Pause [pause]
    Open Evermoor… [open]
    Quit Evermoor [quit]
    ");
}

#[test]
fn what_is_paused_can_be_resumed() {
    let paused = || Link::Paused { since: 1 };
    let one = serving(vec![upstream("PiecesOS", 12, paused()), upstream("GitHub", 1, connected())]);
    assert_snapshot!(drawn(&one), @r"
    PiecesOS is paused, everything else is connected [open]
    ---
    PiecesOS — Paused >
      (Nothing is asked of it)
      Resume PiecesOS [resume piecesos]
    GitHub — Connected >
      (1 tool)
      Restart GitHub [restart github]
      Pause GitHub [pause github]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Pause [pause]
    Open Evermoor… [open]
    Quit Evermoor [quit]
    ");
    assert_snapshot!(drawn(&serving(vec![upstream("PiecesOS", 12, paused())])), @r"
    PiecesOS is paused [open]
    Resume [resume]
    ---
    PiecesOS — Paused >
      (Nothing is asked of it)
      Resume PiecesOS [resume piecesos]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Open Evermoor… [open]
    Quit Evermoor [quit]
    ");
}

#[test]
fn lost() {
    let failure = Failure::new(
        Code::PortTaken,
        "Port 7420 is used by \"node\" (process 812).",
        "Stop it, or set another address in config.toml.",
    );
    assert_snapshot!(drawn(&Presence::Lost { failure }), @r#"
    Port 7420 is used by "node" (process 812). [open]
    (Stop it, or set another address in config.toml.)
    ---
    Open Evermoor… [open]
    Quit Evermoor [quit]
    "#);
}

#[test]
fn many_upstreams_stay_within_twelve_rows() {
    let mut upstreams: Vec<Upstream> =
        (1..=9).map(|n| upstream(&format!("Server {n}"), n, connected())).collect();
    upstreams[8].link = down(Code::Timeout, "Server 9 does not answer.");
    let presence = serving(upstreams);
    assert_snapshot!(drawn(&presence), @r"
    Server 9 is not responding [open]
    Restart Server 9 [restart server 9]
    ---
    Server 1 — Connected >
      (1 tool)
      Restart Server 1 [restart server 1]
      Pause Server 1 [pause server 1]
    Server 2 — Connected >
      (2 tools)
      Restart Server 2 [restart server 2]
      Pause Server 2 [pause server 2]
    Server 3 — Connected >
      (3 tools)
      Restart Server 3 [restart server 3]
      Pause Server 3 [pause server 3]
    Server 4 — Connected >
      (4 tools)
      Restart Server 4 [restart server 4]
      Pause Server 4 [pause server 4]
    Server 5 — Connected >
      (5 tools)
      Restart Server 5 [restart server 5]
      Pause Server 5 [pause server 5]
    More… [open]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Pause [pause]
    Open Evermoor… [open]
    Quit Evermoor [quit]
    ");
    assert_eq!(items(&presence).iter().filter(|item| **item != Item::Separator).count(), 12);
}

#[test]
fn a_long_line_is_cut_and_a_line_that_fits_is_not() {
    let fits = "ü".repeat(LINE_LENGTH);
    assert_eq!(short(&fits), fits);
    let cut = short(&format!("{fits}ü"));
    assert_eq!((cut.chars().count(), cut.chars().last()), (LINE_LENGTH, Some('…')));
}

#[test]
fn new_words_for_the_same_rows_replace_no_row() {
    let shown = items(&serving(vec![upstream("PiecesOS", 12, connected())]));
    let wanted = items(&serving(vec![upstream("PiecesOS", 13, connected())]));
    assert_ne!(shown, wanted);
    assert_eq!(change(&shown, &wanted), Change { at: shown.len(), remove: 0, insert: 0 });
}

#[test]
fn an_outage_replaces_the_rows_it_touches() {
    let (well, ill) = (items(&healthy()), items(&one_down()));
    assert_eq!(change(&well, &ill), Change { at: 1, remove: 2, insert: 3 });
    assert_eq!(change(&ill, &well), Change { at: 1, remove: 3, insert: 2 });
}
