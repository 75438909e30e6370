//! Entries that somebody changed, new tokens, and files that changed since setup.

use evermoor_core::api::Connection;

use super::{Home, access, wish};
use crate::entry::desired::{Door, Transport};
use crate::table::{Client, client};
use crate::{Desk, Gate, Kind, Refused, Scope, Wish};

fn connect(desk: &Desk, client: &'static Client, transport: Transport, access: &Gate) {
    let plan = desk.plan(client, Scope::User, &wish(transport), access).unwrap();
    desk.apply(&plan).unwrap();
}

fn written(home: &Home, id: &str, text: &str) -> (&'static Client, std::path::PathBuf) {
    let client = client(id).unwrap();
    let path = home.desk.path(client, Scope::User).unwrap();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    (client, path)
}

#[test]
fn a_changed_entry_is_detected_and_repaired_and_keeps_added_settings() {
    let home = Home::new();
    let (cursor, path) = written(&home, "cursor", "{}");
    connect(&home.desk, cursor, Transport::Http, &access());
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = text.replace("7420", "9999").replace("\"url\"", "\"timeout\": 5,\n      \"url\"");
    std::fs::write(&path, changed).unwrap();
    assert_eq!(home.desk.drift(cursor, Scope::User, &access()), Connection::Changed);
    connect(&home.desk, cursor, Transport::Http, &access());
    assert_eq!(home.desk.drift(cursor, Scope::User, &access()), Connection::Connected);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"timeout\": 5") && text.contains(":7420/mcp"), "{text}");
}

#[test]
fn a_removed_or_disabled_entry_is_detected() {
    let home = Home::new();
    let (codex, path) = written(&home, "codex", "model = 'x'\n");
    assert_eq!(home.desk.drift(codex, Scope::User, &access()), Connection::NotConnected);
    connect(&home.desk, codex, Transport::Http, &access());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}enabled = false\n")).unwrap();
    assert_eq!(home.desk.drift(codex, Scope::User, &access()), Connection::Changed);
    std::fs::write(&path, "model = 'x'\n").unwrap();
    assert_eq!(home.desk.drift(codex, Scope::User, &access()), Connection::Changed);
    assert!(!home.desk.undo(codex, Scope::User).unwrap().changed);
    assert_eq!(home.desk.drift(codex, Scope::User, &access()), Connection::NotConnected);
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
        connect(&home.desk, client, Transport::Http, &access());
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(theirs.0, theirs.1)).unwrap();
        assert!(home.desk.undo(client, Scope::User).unwrap().changed);
        let left = std::fs::read_to_string(&path).unwrap();
        assert_eq!(left, before.replace(theirs.0, theirs.1), "{id}");
    }
}

#[test]
fn another_transport_or_other_upstreams_replace_the_entries_and_undo_restores_the_original() {
    let before = "{\"mcpServers\": {\"x\": {\"command\": \"y\"}}}";
    let home = Home::new();
    let (zed, path) = written(&home, "cursor", before);
    connect(&home.desk, zed, Transport::Http, &access());
    connect(&home.desk, zed, Transport::Stdio, &access());
    let doors = Wish {
        doors: vec![Door::to("notes"), Door::to("pieces-os")],
        transport: Transport::Http,
        take_over: false,
        drop: Vec::new(),
    };
    let plan = home.desk.plan(zed, Scope::User, &doors, &access()).unwrap();
    home.desk.apply(&plan).unwrap();
    let names: Vec<String> =
        home.desk.existing(zed, Scope::User).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["x", "notes", "pieces-os"]);
    assert_eq!(home.desk.drift(zed, Scope::User, &access()), Connection::Connected);
    home.desk.undo(zed, Scope::User).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn another_server_keeps_its_name_unless_the_user_replaces_it() {
    let before = "{\"mcpServers\": {\"notes\": {\"command\": \"y\"}}}";
    let home = Home::new();
    let (cursor, path) = written(&home, "cursor", before);
    let mut wish = Wish {
        doors: vec![Door::to("notes")],
        transport: Transport::Http,
        take_over: false,
        drop: Vec::new(),
    };
    let refused = home.desk.plan(cursor, Scope::User, &wish, &access()).unwrap_err();
    assert!(matches!(refused, Refused::Taken { .. }), "{refused}");
    wish.take_over = true;
    let plan = home.desk.plan(cursor, Scope::User, &wish, &access()).unwrap();
    home.desk.apply(&plan).unwrap();
    let entries = home.desk.existing(cursor, Scope::User).unwrap();
    assert!(matches!(&entries[0].kind, Kind::Http { url, .. } if url.ends_with("/mcp/notes")));
    home.desk.undo(cursor, Scope::User).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn a_new_token_is_written_to_every_file_that_has_the_old_one() {
    let home = Home::new();
    for (id, transport) in
        [("codex", Transport::Http), ("continue", Transport::Http), ("zed", Transport::Stdio)]
    {
        connect(&home.desk, client(id).unwrap(), transport, &access());
    }
    let next =
        Gate { token: "another-token-of-more-than-thirty-two-letters".to_owned(), ..access() };
    let rewritten = |id| home.desk.rewrite_token(client(id).unwrap(), &next).unwrap();
    assert!(rewritten("codex")[0].changed && rewritten("continue")[0].changed);
    assert!(rewritten("zed").is_empty() && rewritten("cursor").is_empty());
    for id in ["codex", "continue"] {
        assert_eq!(home.desk.drift(client(id).unwrap(), Scope::User, &next), Connection::Connected);
        assert_eq!(
            home.desk.drift(client(id).unwrap(), Scope::User, &access()),
            Connection::Changed
        );
    }
}

#[test]
fn the_last_three_copies_are_kept_and_the_original_until_undo() {
    let home = Home::new();
    let (cursor, path) = written(&home, "cursor", "{\"a\":0}");
    for round in 0..6 {
        let access = Gate { origin: format!("http://127.0.0.1:{}", 7000 + round), ..access() };
        connect(&home.desk, cursor, Transport::Http, &access);
    }
    let copies = home.folder.path().join("data/setup/backups/cursor");
    assert!(std::fs::read_dir(copies).unwrap().count() <= 4);
    home.desk.undo(cursor, Scope::User).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"a\":0}");
}
