//! The menu while the gateway is running.

use insta::assert_snapshot;

use super::*;

#[test]
fn nothing_set_up() {
    assert_snapshot!(head(&serving(vec![])), @r"
    No servers are set up yet [show #/]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Connect an editor >
      Another editor… [show #/editors]
    ");
}

#[test]
fn a_connected_upstream_shows_for_how_long_and_its_tools() {
    let pieces = UpstreamStatus {
        app: Some(app(NextStep::Nothing, None)),
        ..upstream("PiecesOS", 12, connected())
    };
    let github = UpstreamStatus { hidden: 18, ..upstream("GitHub", 30, connected()) };
    assert_snapshot!(head(&serving(vec![pieces, github])), @r"
    Everything is connected [show #/]
    ---
    PiecesOS — Connected >
      (Connected for 3 h · 12 tools)
      Restart PiecesOS [restart piecesos]
      Reconnect only [reconnect piecesos]
      Pause PiecesOS [pause piecesos]
      Turn off PiecesOS [turn-off piecesos]
      View log… [show #/upstreams/piecesos?log]
    GitHub — Connected >
      (Connected for 3 h · 12 of 30 tools shown)
      Restart GitHub [restart github]
      Pause GitHub [pause github]
      Turn off GitHub [turn-off github]
      View log… [show #/upstreams/github?log]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Connect an editor >
      Another editor… [show #/editors]
    ");
}

#[test]
fn busy() {
    let state = serving(vec![upstream("PiecesOS", 0, UpstreamState::Connecting)]);
    assert_snapshot!(head(&state), @r"
    Connecting to PiecesOS [show #/upstreams/piecesos]
    ---
    PiecesOS — Connecting >
      (http://x/mcp)
      Restart PiecesOS [restart piecesos]
      Pause PiecesOS [pause piecesos]
      Turn off PiecesOS [turn-off piecesos]
      View log… [show #/upstreams/piecesos?log]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Connect an editor >
      Another editor… [show #/editors]
    ");
}

#[test]
fn one_upstream_down_has_its_restart_button_on_top_and_the_headline_opens_it() {
    let what = "Connection refused at http://127.0.0.1:39300.";
    let state = serving(vec![
        upstream("PiecesOS", 12, down(Code::ConnectionRefused, what)),
        upstream("GitHub", 1, connected()),
    ]);
    assert_snapshot!(head(&state), @r"
    PiecesOS is not running [show #/upstreams/piecesos]
    Restart PiecesOS [restart piecesos]
    ---
    PiecesOS — Not running >
      (Connection refused at http://127.0.0.1:39300.)
      Restart PiecesOS [restart piecesos]
      Pause PiecesOS [pause piecesos]
      Turn off PiecesOS [turn-off piecesos]
      View log… [show #/upstreams/piecesos?log]
    GitHub — Connected >
      (Connected for 3 h · 1 tool)
      Restart GitHub [restart github]
      Pause GitHub [pause github]
      Turn off GitHub [turn-off github]
      View log… [show #/upstreams/github?log]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Connect an editor >
      Another editor… [show #/editors]
    ");
}

#[test]
fn an_upstream_that_wants_a_sign_in_offers_that_instead_of_a_restart() {
    let failure = "Linear wants you to sign in.";
    let linear = UpstreamStatus {
        sign_in: Some(SignInStatus { is_needed: true, account: None }),
        ..upstream("Linear", 12, down(Code::AuthRequired, failure))
    };
    let state = serving(vec![linear, upstream("GitHub", 1, connected())]);
    let page = head(&state);
    let rows: Vec<&str> = page.lines().take(8).collect();
    let wanted = [
        "Linear wants you to sign in [show #/upstreams/linear]",
        "Sign in to Linear… [sign-in linear]",
        "---",
        "Linear — Needs sign-in >",
        "  (Linear wants you to sign in.)",
        "  Sign in to Linear… [sign-in linear]",
        "  Pause Linear [pause linear]",
        "  Turn off Linear [turn-off linear]",
    ];
    assert_eq!(rows, wanted);
}

#[test]
fn several_upstreams_down_are_restarted_together() {
    let state = serving(vec![
        upstream("PiecesOS", 12, down(Code::Timeout, "PiecesOS does not answer.")),
        upstream("GitHub", 1, down(Code::AuthRequired, "GitHub wants a new sign-in.")),
        upstream("Files", 3, connected()),
    ]);
    let page = head(&state);
    let rows: Vec<&str> = page.lines().take(4).collect();
    let wanted = [
        "2 of 3 servers are down [show #/]",
        "Restart all (2) [restart]",
        "---",
        "PiecesOS — Not responding >",
    ];
    assert_eq!(rows, wanted);
}

#[test]
fn a_paused_upstream_can_be_resumed_and_one_that_is_off_can_be_turned_on() {
    let paused = || UpstreamState::Paused { since: 1 };
    let one =
        serving(vec![upstream("PiecesOS", 12, paused()), upstream("Files", 0, UpstreamState::Off)]);
    assert_snapshot!(head(&one), @r"
    PiecesOS is paused [show #/]
    ---
    PiecesOS — Paused >
      (Paused until you resume it)
      Resume PiecesOS [resume piecesos]
      Turn off PiecesOS [turn-off piecesos]
      View log… [show #/upstreams/piecesos?log]
    Files — Off >
      (Turned off in config.toml)
      Turn on Files [turn-on files]
      View log… [show #/upstreams/files?log]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Connect an editor >
      Another editor… [show #/editors]
    ");
    let all = head(&serving(vec![upstream("PiecesOS", 12, paused())]));
    let rows: Vec<&str> = all.lines().take(2).collect();
    assert_eq!(rows, ["PiecesOS is paused [show #/]", "Resume [resume]"]);
}
