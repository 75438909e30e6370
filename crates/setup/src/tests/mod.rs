//! Sets up every known editor in an empty home folder, in realistic files and in hostile ones.

mod files;
mod generator;
mod properties;
mod repair;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use evermoor_core::api::SetupState;
use evermoor_platform::system::System;

use crate::entry::desired::{
    EditorTransport, GatewayAccess, GatewayEntry, desired_entry, install_link, snippet,
};
use crate::journal::Journal;
use crate::table::folders::UserFolders;
use crate::table::{ConfigLanguage, EditorSpec, clients};
use crate::{DesiredEntries, EntryKind, ServerEntry, SetupScope, UserEditors};

pub(super) struct Home {
    folder: tempfile::TempDir,
    pub(super) user_editors: UserEditors,
}

impl Home {
    pub(super) fn new() -> Self {
        // In memory if possible: these tests sync thousands of files.
        let memory = Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.unwrap();
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        let name = if System::HERE == System::Windows { "USERPROFILE" } else { "HOME" };
        let variables = HashMap::from([(name.to_owned(), home.into_os_string())]);
        let folders = UserFolders::on(System::HERE, project, variables).unwrap();
        let journal = Journal::below(&folder.path().join("data"));
        Self { folder, user_editors: UserEditors { folders, journal } }
    }

    /// Every folder and file except Evermoor's own, with its content.
    pub(super) fn everything(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        for start in ["home", "project"] {
            walk(&self.folder.path().join(start), &mut found);
        }
        found
    }
}

fn walk(path: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in std::fs::read_dir(path).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, found);
            found.insert(path, None);
        } else {
            let content = std::fs::read(&path).unwrap();
            found.insert(path, Some(content));
        }
    }
}

pub(super) fn access() -> GatewayAccess {
    GatewayAccess {
        origin: "http://127.0.0.1:7420".to_owned(),
        token: "a-token-of-more-than-thirty-two-letters".to_owned(),
        program: PathBuf::from("/opt/Ever moor/evermoor"),
        home: Some(PathBuf::from("/tmp/some home")),
    }
}

pub(super) fn desired(transport: EditorTransport) -> DesiredEntries {
    DesiredEntries {
        gateway_entries: vec![GatewayEntry::for_all()],
        transport,
        take_over: false,
        drop: Vec::new(),
    }
}

fn with_files() -> impl Iterator<Item = &'static EditorSpec> {
    clients().iter().filter(|client| client.file.is_some())
}

/// Sets up an editor, sets it up again and undoes it, with checks after each step.
fn set_up_and_undo(
    home: &Home,
    client: &'static EditorSpec,
    scope: SetupScope,
    transport: EditorTransport,
    case: &str,
) {
    let about = format!("{} {scope:?} {transport:?} {case}", client.id);
    let (user_editors, access, desired) = (&home.user_editors, access(), desired(transport));
    let before = home.everything();
    let plan = user_editors
        .plan(client, scope, &desired, &access)
        .unwrap_or_else(|error| panic!("{about}: {error}"));
    assert!(plan.changes() && !plan.diff(&access).contains(&access.token), "{about}");
    let done = user_editors.apply(&plan).unwrap_or_else(|error| panic!("{about}: {error}"));
    assert!(done.changed, "{about}");
    let entries = user_editors.existing(client, scope).unwrap();
    let ours = entries
        .iter()
        .find(|entry| entry.name == "evermoor")
        .unwrap_or_else(|| panic!("{about}: {entries:?}"));
    let wanted = desired_entry(client, &GatewayEntry::for_all(), transport, &access);
    assert_eq!(Some(ours), ServerEntry::read(client, "evermoor", &wanted).as_ref(), "{about}");
    assert_eq!(user_editors.drift(client, scope, &access), SetupState::Connected, "{about}");

    let after = home.everything();
    let again = user_editors.plan(client, scope, &desired, &access).unwrap();
    assert!(!again.changes() && !user_editors.apply(&again).unwrap().changed, "{about}");
    assert_eq!(home.everything(), after, "{about}: a second time changes nothing");

    assert!(user_editors.undo(client, scope).unwrap().changed, "{about}");
    assert_eq!(home.everything(), before, "{about}: undone byte for byte");
}

fn scopes(client: &EditorSpec) -> Vec<SetupScope> {
    if client.project.is_some() {
        vec![SetupScope::User, SetupScope::Project]
    } else {
        vec![SetupScope::User]
    }
}

#[test]
fn every_editor_is_set_up_in_an_empty_home_and_undone_completely() {
    for client in with_files() {
        for scope in scopes(client) {
            for transport in [EditorTransport::Http, EditorTransport::Stdio] {
                set_up_and_undo(&Home::new(), client, scope, transport, "empty");
            }
        }
    }
}

#[test]
fn every_editor_is_set_up_in_realistic_and_in_hostile_files() {
    let mut count = 0;
    for client in with_files() {
        let home = Home::new();
        let path = home.user_editors.path(client, SetupScope::User).unwrap();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        for (case, text) in files::of(client) {
            std::fs::write(&path, text).unwrap();
            let transport =
                if count % 2 == 0 { EditorTransport::Http } else { EditorTransport::Stdio };
            set_up_and_undo(&home, client, SetupScope::User, transport, case);
            count += 1;
        }
    }
    assert!(count > 500, "{count}");
}

#[test]
fn a_diff_shows_no_secret_of_another_server() {
    let (home, client) = (Home::new(), crate::client("cursor").unwrap());
    let path = home.user_editors.path(client, SetupScope::User).unwrap();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let one_line = r#"{"mcpServers":{"a":{"command":"npx","args":["--api-key","canary-1"],"env":{"X":"canary-2"}},"b":{"url":"https://h/mcp?k=canary-3","headers":{"X-Key":"Bearer canary\/4"}}}}"#;
    std::fs::write(&path, one_line).unwrap();
    let (access, desired) = (access(), desired(EditorTransport::Http));
    let plan = home.user_editors.plan(client, SetupScope::User, &desired, &access).unwrap();
    let diff = plan.diff(&access);
    assert!(!diff.contains("canary"), "{diff}");
    assert!(diff.contains("evermoor") && diff.contains("<token>"), "{diff}");
}

#[test]
fn a_file_that_does_not_parse_is_not_changed() {
    for client in with_files() {
        let home = Home::new();
        let path = home.user_editors.path(client, SetupScope::User).unwrap();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        for bad in
            [&b"{ \"a\": [1, 2 \n"[..], b"a = [\n", b"a: [1\n b: }\n", b"\xff\xfe{\0", b"[1]"]
        {
            std::fs::write(&path, bad).unwrap();
            let before = home.everything();
            if let Ok(plan) = home.user_editors.plan(
                client,
                SetupScope::User,
                &desired(EditorTransport::Http),
                &access(),
            ) {
                // `[1]` is a table in TOML.
                assert!(
                    bad == b"[1]" && plan.location.path.ends_with("config.toml"),
                    "{} {bad:?}",
                    client.id
                );
            } else {
                let state = home.user_editors.drift(client, SetupScope::User, &access());
                assert!(
                    bad == b"[1]" || state == SetupState::Unreadable,
                    "{} {bad:?} {state:?}",
                    client.id
                );
            }
            assert_eq!(home.everything(), before);
        }
    }
}

#[test]
fn every_editor_has_a_snippet_with_the_same_entry() {
    for client in clients() {
        for transport in [EditorTransport::Http, EditorTransport::Stdio] {
            let wanted =
                desired_entry(client, &GatewayEntry::for_upstream("notes"), transport, &access());
            let text = snippet(client, &[("notes".to_owned(), wanted.clone())]);
            assert!(text.contains("notes"), "{}: {text}", client.id);
            if let ConfigLanguage::Of(format) = client.language {
                let read = format.read(&text).unwrap();
                assert_eq!(client.servers.entry(&read, "notes"), Some(&wanted), "{}", client.id);
            }
        }
    }
}

#[test]
fn install_links_have_the_whole_entry_and_no_token() {
    let linked: Vec<&EditorSpec> =
        clients().iter().filter(|client| client.link.is_some()).collect();
    assert_eq!(linked.len(), 5);
    for client in linked {
        let link = install_link(client, &GatewayEntry::for_all(), &access()).unwrap();
        assert!(
            !link.contains('$') && !link.contains(' ') && !link.contains(&access().token),
            "{link}"
        );
        let parsed = url::Url::parse(&link).unwrap();
        assert!(parsed.query().is_some_and(|query| query.len() > 40), "{link}");
    }
    let cursor =
        install_link(crate::client("cursor").unwrap(), &GatewayEntry::for_all(), &access())
            .unwrap();
    let parsed = url::Url::parse(&cursor).unwrap();
    let config = parsed.query_pairs().find(|(name, _)| name == "config").unwrap().1.into_owned();
    use base64::Engine as _;
    let json = base64::engine::general_purpose::STANDARD.decode(config).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["command"], "/opt/Ever moor/evermoor");
}

#[test]
fn an_editor_is_detected_by_its_file_its_folder_or_its_program() {
    for client in clients() {
        let home = Home::new();
        assert!(!home.user_editors.is_installed(client), "{}", client.id);
        let sign = client
            .signs
            .iter()
            .map(|sign| home.user_editors.folders.find(sign))
            .find(|path| path.starts_with(home.folder.path()));
        if let Some(sign) = sign {
            std::fs::create_dir_all(sign).unwrap();
            assert!(home.user_editors.is_installed(client), "{}", client.id);
        }
    }
    let home = Home::new();
    let folder = home.folder.path().join("bin");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join(if System::HERE == System::Windows { "codex.exe" } else { "codex" });
    std::fs::write(&file, "").unwrap();
    let codex = crate::client("codex").unwrap();
    let mut user_editors = home.user_editors.clone();
    user_editors.folders = user_editors.folders.with_search_path(OsString::from(&folder));
    assert_eq!(
        user_editors.is_installed(codex),
        System::HERE == System::Windows,
        "it must be executable"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(user_editors.is_installed(codex));
    }
}

#[test]
fn editors_that_survive_more_over_stdio_use_it() {
    let over = |kind: fn(&EntryKind) -> bool| {
        let entry = |client: &&EditorSpec| {
            let wanted =
                desired_entry(client, &GatewayEntry::for_all(), client.transport, &access());
            kind(&ServerEntry::read(client, "x", &wanted).unwrap().kind)
        };
        clients().iter().filter(entry).count()
    };
    assert_eq!(over(|kind| matches!(kind, EntryKind::Http { .. })), 22);
    assert_eq!(over(|kind| matches!(kind, EntryKind::Stdio { .. })), 16);
    let file = clients().iter().filter(|client| client.file.is_some() && client.command.is_none());
    assert_eq!(
        (file.count(), clients().iter().filter(|client| client.paste.is_some()).count()),
        (34, 3)
    );
}
