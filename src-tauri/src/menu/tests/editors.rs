//! The editors that can be connected.

use evermoor_core::api::{DetectedEditor, SetupState};
use insta::assert_snapshot;

use super::*;

fn found(id: &str, title: &str, state: SetupState) -> DetectedEditor {
    DetectedEditor {
        id: id.into(),
        title: title.into(),
        path: None,
        state,
        entries: vec![],
        attached: false,
        hint: String::new(),
        link: None,
    }
}

#[test]
fn editors_on_this_machine_are_ticked_or_connected_with_a_click() {
    let mut state = serving(vec![]);
    state.editors = vec![
        found("claude-code", "Claude Code", SetupState::Connected),
        found("cursor", "Cursor", SetupState::NotConnected),
        found("zed", "Zed", SetupState::Changed),
        found("codex", "Codex", SetupState::Unreadable),
        found("windsurf", "Windsurf", SetupState::NotInstalled),
    ];
    assert_snapshot!(head(&state), @r"
    No servers are set up yet [show #/]
    ---
    Copy endpoint URL [copy http://127.0.0.1:7420/mcp]
    Connect an editor >
      [x] Claude Code [show-editor claude-code]
      [ ] Cursor [connect cursor]
      [ ] Zed — Repair [connect zed]
      [ ] Codex — Check its file… [show-editor codex]
      ---
      Another editor… [show #/editors]
    ");
}
