//! For any file of a format: only Evermoor's entry changes, and undoing restores every byte.

use proptest::prelude::*;

use super::generator::Generator;
use super::{Home, access, desired};
use crate::entry::desired::EditorTransport;
use crate::format::tree::{ServersPath, Tree};
use crate::format::{EntryChange, Format};
use crate::table::client;
use crate::{SetupScope, UserEditors};

/// The number of generated files per format.
const PURE: u32 = 400;
const ON_DISK: u32 = 60;

fn scalar() -> impl Strategy<Value = Tree> {
    prop_oneof![
        any::<bool>().prop_map(Tree::Bool),
        (0..1_000_000_i64).prop_map(|number| Tree::Bare(number.to_string())),
        "[ -~]{0,12}".prop_map(Tree::Text),
        "[a-z]{3,8}".prop_map(Tree::Text),
        "[\u{e0}-\u{ff}\u{4e00}-\u{4e10}\u{1f600}-\u{1f610}]{1,4}".prop_map(Tree::Text),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,6}", "[a-zA-Z0-9 ./_-]{1,8}", "[\u{e0}-\u{ff}]{1,3}"]
}

/// A map without duplicate names, as TOML and YAML require.
fn map(value: impl Strategy<Value = Tree>) -> impl Strategy<Value = Tree> {
    prop::collection::btree_map(name(), value, 0..5)
        .prop_map(|pairs| Tree::Map(pairs.into_iter().collect()))
}

fn tree() -> impl Strategy<Value = Tree> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![map(inner.clone()), prop::collection::vec(inner, 0..4).prop_map(Tree::List)]
    })
}

/// The servers of a file: missing, empty, other servers, or other servers and Evermoor.
fn servers(list: bool) -> impl Strategy<Value = Option<Tree>> {
    let entries = prop::collection::btree_map("[a-d]{1,3}", map(scalar()), 0..4);
    (0..4_u8, entries).prop_map(move |(kind, entries)| {
        let named = |(name, entry): (String, Tree)| {
            let mut item = Tree::Map(vec![("name".to_owned(), Tree::Text(name))]);
            entry.as_map().unwrap_or_default().iter().for_each(|(key, value)| {
                if key != "name" {
                    item.put(key, value.clone())
                }
            });
            item
        };
        let mut entries: Vec<(String, Tree)> =
            if kind == 1 { Vec::new() } else { entries.into_iter().collect() };
        if kind == 3 {
            let at = entries.len() / 2;
            entries.insert(
                at,
                ("evermoor".to_owned(), Tree::Map(vec![("url".to_owned(), Tree::text("old"))])),
            );
        }
        let place = if list {
            Tree::List(entries.into_iter().map(named).collect())
        } else {
            Tree::Map(entries)
        };
        (kind > 0).then_some(place)
    })
}

/// The value of a file: settings, with the servers at any position among them.
fn file(list: bool) -> impl Strategy<Value = Tree> {
    (map(tree()), servers(list), any::<prop::sample::Index>()).prop_map(|(settings, place, at)| {
        let Tree::Map(mut pairs) = settings else { unreachable!() };
        pairs.retain(|(name, _)| name != "servers");
        let at = at.index(pairs.len() + 1);
        if let Some(place) = place {
            pairs.insert(at, ("servers".to_owned(), place));
        }
        Tree::Map(pairs)
    })
}

fn text(format: Format, tree: &Tree, seed: u64) -> String {
    let mut generator = Generator::new(seed);
    let mark = if generator.one_in(5) { "\u{feff}" } else { "" };
    let body = match format {
        Format::Json => {
            let head = ["", "// head\n", "\n\n"][generator.dice(3)];
            format!(
                "{head}{}{}",
                generator.json(tree, ""),
                ["", generator.nl, "\n// tail"][generator.dice(3)]
            )
        }
        Format::Toml => generator.toml(&[], tree.as_map().unwrap()),
        Format::Yaml => {
            let head = ["", "# head\n", "---\n"][generator.dice(3)];
            format!("{head}{}", generator.yaml(tree, 0))
        }
    };
    let cut = generator.one_in(4) && format != Format::Yaml;
    let body = if cut { body.trim_end_matches(['\r', '\n']) } else { &body };
    format!("{mark}{body}")
}

fn ours() -> Tree {
    Tree::Map(vec![
        ("name".to_owned(), Tree::text("evermoor")),
        ("url".to_owned(), Tree::text("http://127.0.0.1:7420/mcp")),
        (
            "headers".to_owned(),
            Tree::Map(vec![("Authorization".to_owned(), Tree::text("Bearer x: y # z"))]),
        ),
        (
            "args".to_owned(),
            Tree::List(vec![Tree::text("connect"), Tree::text("--home"), Tree::text("C:\\a b")]),
        ),
        ("enabled".to_owned(), Tree::Bool(true)),
    ])
}

/// Adds Evermoor's entry and removes it again, and checks more than the edit itself checks.
fn only_evermoor_changes(
    format: Format,
    list: bool,
    tree: &Tree,
    seed: u64,
) -> Result<(), TestCaseError> {
    let servers = ServersPath { path: vec!["servers".to_owned()], list };
    let before = text(format, tree, seed);
    let read = format.read(&before);
    prop_assert!(read.is_ok(), "the generator is wrong: {read:?}\n{before}");
    let put = [EntryChange::Put("evermoor".to_owned(), ours())];
    let after = format.edit(&before, &servers, &put, false);
    prop_assert!(after.is_ok(), "{after:?}\n{before}");
    let after = after.unwrap();
    let again = format.edit(&after, &servers, &put, false).unwrap();
    prop_assert_eq!(format.read(&again).unwrap(), format.read(&after).unwrap());

    let comments = |text: &str| {
        text.matches("# c").count() + text.matches("// ").count() + text.matches("/* ").count()
    };
    prop_assert!(
        comments(&after) >= comments(&before) || list || tree.at(&servers.path).is_some(),
        "a comment is lost:\n{before}\n---\n{after}"
    );
    let was_there = servers.entry(&format.read(&before).unwrap(), "evermoor").is_some();
    prop_assert!(was_there || after.matches("\r\n").count() >= before.matches("\r\n").count());
    let removed = format.edit(
        &after,
        &servers,
        &[EntryChange::Remove("evermoor".to_owned())],
        tree.at(&servers.path).is_none(),
    );
    prop_assert!(removed.is_ok(), "{removed:?}\n{after}");
    if !was_there
        && format == Format::Json
        && tree.at(&servers.path).and_then(Tree::as_map).is_some_and(|map| !map.is_empty())
    {
        prop_assert_eq!(&removed.unwrap(), &before, "removed again, byte for byte");
    }
    Ok(())
}

fn set_up_and_undo(id: &str, tree: &Tree, seed: u64) -> Result<(), TestCaseError> {
    let client = client(id).unwrap();
    let crate::table::ConfigLanguage::Of(format) = client.language else { unreachable!() };
    let renamed = renamed(tree, &client.servers.path[0]);
    let before = text(format, &renamed, seed);
    let home = Home::new();
    let user_editors: &UserEditors = &home.user_editors;
    let path = user_editors.path(client, SetupScope::User).unwrap();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, &before).unwrap();
    let was_ours = client.servers.entry(&renamed, "evermoor").is_some();
    let transport =
        if seed.is_multiple_of(2) { EditorTransport::Http } else { EditorTransport::Stdio };
    let plan = user_editors.plan(client, SetupScope::User, &desired(transport), &access());
    prop_assert!(plan.is_ok(), "{:?}\n{before}", plan.err());
    user_editors.apply(&plan.unwrap()).unwrap();
    let second =
        user_editors.plan(client, SetupScope::User, &desired(transport), &access()).unwrap();
    prop_assert!(!second.changes());
    user_editors.undo(client, SetupScope::User).unwrap();
    if !was_ours {
        prop_assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    }
    Ok(())
}

fn renamed(tree: &Tree, key: &str) -> Tree {
    let pairs = tree.as_map().unwrap().iter().filter(|(name, _)| name != key);
    let name = |name: &String| if name == "servers" { key.to_owned() } else { name.clone() };
    Tree::Map(pairs.map(|(key, value)| (name(key), value.clone())).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(PURE), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_any_json_only_evermoors_entry_changes(tree in file(false), seed in any::<u64>()) {
        only_evermoor_changes(Format::Json, false, &tree, seed)?;
    }

    #[test]
    fn in_any_toml_only_evermoors_entry_changes(tree in file(false), seed in any::<u64>()) {
        only_evermoor_changes(Format::Toml, false, &tree, seed)?;
    }

    #[test]
    fn in_any_yaml_map_only_evermoors_entry_changes(tree in file(false), seed in any::<u64>()) {
        only_evermoor_changes(Format::Yaml, false, &tree, seed)?;
    }

    #[test]
    fn in_any_yaml_list_only_evermoors_entry_changes(tree in file(true), seed in any::<u64>()) {
        only_evermoor_changes(Format::Yaml, true, &tree, seed)?;
    }

    #[test]
    fn any_text_is_edited_correctly_or_not_at_all(text in "[\\[\\]{}:,#\"' a-c\n\r\t-]{0,40}") {
        let servers = ServersPath { path: vec!["a".to_owned()], list: false };
        for format in [Format::Json, Format::Toml, Format::Yaml] {
            let put = [EntryChange::Put("evermoor".to_owned(), ours())];
            if let Ok(after) = format.edit(&text, &servers, &put, false) {
                let (before, after) = (format.read(&text).unwrap(), format.read(&after).unwrap());
                prop_assert_eq!(before.without(&servers, &["evermoor"]), after.without(&servers, &["evermoor"]));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(ON_DISK), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn setting_up_and_undoing_is_the_identity_on_json(tree in file(false), seed in any::<u64>()) {
        set_up_and_undo("vscode", &tree, seed)?;
    }

    #[test]
    fn setting_up_and_undoing_is_the_identity_on_toml(tree in file(false), seed in any::<u64>()) {
        set_up_and_undo("codex", &tree, seed)?;
    }

    #[test]
    fn setting_up_and_undoing_is_the_identity_on_yaml_maps(tree in file(false), seed in any::<u64>()) {
        set_up_and_undo("goose", &tree, seed)?;
    }

    #[test]
    fn setting_up_and_undoing_is_the_identity_on_yaml_lists(tree in file(true), seed in any::<u64>()) {
        set_up_and_undo("continue", &tree, seed)?;
    }
}
