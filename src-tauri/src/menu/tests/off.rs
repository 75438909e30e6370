//! Upstreams that a person turned off.

use super::*;

#[test]
fn an_upstream_that_is_off_offers_nothing_and_hidden_tools_are_counted() {
    let github = Upstream { hidden: 18, ..upstream("GitHub", 30, connected()) };
    let presence = serving(vec![upstream("PiecesOS", 0, Link::Off), github]);
    assert_snapshot!(drawn(&presence), @r"
    GitHub is connected [open]
    ---
    PiecesOS — Off >
      (Turned off in config.toml)
    GitHub — Connected >
      (12 of 30 tools shown)
      Restart GitHub [restart github]
      Pause GitHub [pause github]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Pause [pause]
    Open Evermoor… [open]
    Quit Evermoor [quit]
    ");
}
