//! Entries that were changed, new tokens, and files that changed since setup.

use evermoor_core::api::SetupState;

use super::{Home, access, desired};
use crate::entry::desired::{EditorTransport, GatewayEntry};
use crate::table::{EditorSpec, client};
use crate::{DesiredEntries, EntryKind, GatewayAccess, SetupError, SetupScope, UserEditors};

fn connect(
    user_editors: &UserEditors,
    client: &'static EditorSpec,
    transport: EditorTransport,
    access: &GatewayAccess,
) {
    let plan = user_editors.plan(client, SetupScope::User, &desired(transport), access).unwrap();
    user_editors.apply(&plan).unwrap();
}

fn written(home: &Home, id: &str, text: &str) -> (&'static EditorSpec, std::path::PathBuf) {
    let client = client(id).unwrap();
    let path = home.user_editors.path(client, SetupScope::User).unwrap();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    (client, path)
}

#[test]
fn a_changed_entry_is_detected_and_repaired_and_keeps_added_settings() {
    let home = Home::new();
    let (cursor, path) = written(&home, "cursor", "{}");
    connect(&home.user_editors, cursor, EditorTransport::Http, &access());
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = text.replace("7420", "9999").replace("\"url\"", "\"timeout\": 5,\n      \"url\"");
    std::fs::write(&path, changed).unwrap();
    assert_eq!(home.user_editors.drift(cursor, SetupScope::User, &access()), SetupState::Changed);
    connect(&home.user_editors, cursor, EditorTransport::Http, &access());
    assert_eq!(home.user_editors.drift(cursor, SetupScope::User, &access()), SetupState::Connected);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"timeout\": 5") && text.contains(":7420/mcp"), "{text}");
}

#[test]
fn a_removed_or_disabled_entry_is_detected() {
    let home = Home::new();
    let (codex, path) = written(&home, "codex", "model = 'x'\n");
    assert_eq!(
        home.user_editors.drift(codex, SetupScope::User, &access()),
        SetupState::NotConnected
    );
    connect(&home.user_editors, codex, EditorTransport::Http, &access());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}enabled = false\n")).unwrap();
    assert_eq!(home.user_editors.drift(codex, SetupScope::User, &access()), SetupState::Changed);
    std::fs::write(&path, "model = 'x'\n").unwrap();
    assert_eq!(home.user_editors.drift(codex, SetupScope::User, &access()), SetupState::Changed);
    assert!(!home.user_editors.undo(codex, SetupScope::User).unwrap().changed);
    assert_eq!(
        home.user_editors.drift(codex, SetupScope::User, &access()),
        SetupState::NotConnected
    );
}

#[test]
fn if_the_file_changed_since_setup_undo_removes_only_evermoors_entry() {
    for (id, before, theirs) in [
        ("cursor", "{\n  // mine\n  \"a\": 1\n}\n", ("\"a\": 1", "\"a\": 2")),
        ("codex", "# mine\na = 1\n# end\n", ("a = 1", "a = 2")),
        ("goose", "# mine\na: 1\nb: # end\n", ("a: 1", "a: 2")),
        ("continue", "# mine\na: 1\nmcpServers:\n  - name: x\n    command: y\n", ("a: 1", "a: 2")),
    ] {
        let home = Home::new();
        let (client, path) = written(&home, id, before);
        connect(&home.user_editors, client, EditorTransport::Http, &access());
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(theirs.0, theirs.1)).unwrap();
        assert!(home.user_editors.undo(client, SetupScope::User).unwrap().changed);
        let left = std::fs::read_to_string(&path).unwrap();
        assert_eq!(left, before.replace(theirs.0, theirs.1), "{id}");
    }
}

#[test]
fn another_transport_or_other_upstreams_replace_the_entries_and_undo_restores_the_original() {
    let before = "{\"mcpServers\": {\"x\": {\"command\": \"y\"}}}";
    let home = Home::new();
    let (zed, path) = written(&home, "cursor", before);
    connect(&home.user_editors, zed, EditorTransport::Http, &access());
    connect(&home.user_editors, zed, EditorTransport::Stdio, &access());
    let gateway_entries = DesiredEntries {
        gateway_entries: vec![
            GatewayEntry::for_upstream("notes"),
            GatewayEntry::for_upstream("pieces-os"),
        ],
        transport: EditorTransport::Http,
        take_over: false,
        drop: Vec::new(),
    };
    let plan = home.user_editors.plan(zed, SetupScope::User, &gateway_entries, &access()).unwrap();
    home.user_editors.apply(&plan).unwrap();
    let names: Vec<String> = home
        .user_editors
        .existing(zed, SetupScope::User)
        .unwrap()
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    assert_eq!(names, ["x", "notes", "pieces-os"]);
    assert_eq!(home.user_editors.drift(zed, SetupScope::User, &access()), SetupState::Connected);
    home.user_editors.undo(zed, SetupScope::User).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn another_server_keeps_its_name_unless_the_user_replaces_it() {
    let before = "{\"mcpServers\": {\"notes\": {\"command\": \"y\"}}}";
    let home = Home::new();
    let (cursor, path) = written(&home, "cursor", before);
    let mut desired = DesiredEntries {
        gateway_entries: vec![GatewayEntry::for_upstream("notes")],
        transport: EditorTransport::Http,
        take_over: false,
        drop: Vec::new(),
    };
    let refused =
        home.user_editors.plan(cursor, SetupScope::User, &desired, &access()).unwrap_err();
    assert!(matches!(refused, SetupError::Taken { .. }), "{refused}");
    desired.take_over = true;
    let plan = home.user_editors.plan(cursor, SetupScope::User, &desired, &access()).unwrap();
    home.user_editors.apply(&plan).unwrap();
    let entries = home.user_editors.existing(cursor, SetupScope::User).unwrap();
    assert!(matches!(&entries[0].kind, EntryKind::Http { url, .. } if url.ends_with("/mcp/notes")));
    home.user_editors.undo(cursor, SetupScope::User).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn a_new_token_is_written_to_every_file_that_has_the_old_one() {
    let home = Home::new();
    for (id, transport) in [
        ("codex", EditorTransport::Http),
        ("continue", EditorTransport::Http),
        ("zed", EditorTransport::Stdio),
    ] {
        connect(&home.user_editors, client(id).unwrap(), transport, &access());
    }
    let next = GatewayAccess {
        token: "another-token-of-more-than-thirty-two-letters".to_owned(),
        ..access()
    };
    let rewritten = |id| home.user_editors.rewrite_token(client(id).unwrap(), &next).unwrap();
    assert!(rewritten("codex")[0].changed && rewritten("continue")[0].changed);
    assert!(rewritten("zed").is_empty() && rewritten("cursor").is_empty());
    for id in ["codex", "continue"] {
        assert_eq!(
            home.user_editors.drift(client(id).unwrap(), SetupScope::User, &next),
            SetupState::Connected
        );
        assert_eq!(
            home.user_editors.drift(client(id).unwrap(), SetupScope::User, &access()),
            SetupState::Changed
        );
    }
}

#[test]
fn the_last_three_copies_are_kept_and_the_original_until_undo() {
    let home = Home::new();
    let (cursor, path) = written(&home, "cursor", "{\"a\":0}");
    for round in 0..6 {
        let access =
            GatewayAccess { origin: format!("http://127.0.0.1:{}", 7000 + round), ..access() };
        connect(&home.user_editors, cursor, EditorTransport::Http, &access);
    }
    let copies = home.folder.path().join("data/setup/backups/cursor");
    assert!(std::fs::read_dir(copies).unwrap().count() <= 4);
    home.user_editors.undo(cursor, SetupScope::User).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"a\":0}");
}
