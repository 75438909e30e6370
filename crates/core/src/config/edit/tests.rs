//! Edits change only what they are about.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::catalog::filter::Filter;

const FILE: &str = "\
# My machines. Do not touch the first one.

version = 1 # the only one

[gateway]
# Some calls take their time.
hold = \"25s\"  # long enough

# PiecesOS, which is on every machine.
[upstreams.pieces]
preset = \"pieces-os\"
tools.deny = [
  \"delete_*\",  # never
  \"erase\",
]

[upstreams.notes] # the others
url = \"http://127.0.0.1:3001/mcp\"
enabled = false

# At the end.
";

fn edited(text: &str, how: impl FnOnce(&mut ConfigEdit) -> Result<(), ConfigError>) -> String {
    let mut edit = ConfigEdit::of(text).unwrap();
    how(&mut edit).unwrap();
    edit.done().unwrap().0
}

fn comments(text: &str) -> BTreeSet<String> {
    let found = text.lines().filter_map(|line| line.split_once('#'));
    found.map(|(_, comment)| comment.trim().to_owned()).collect()
}

#[test]
fn a_value_is_replaced_in_place() {
    let after = edited(FILE, |edit| edit.set(&["gateway", "hold"], "40s"));
    assert_eq!(after, FILE.replace("\"25s\"", "\"40s\""));
}

#[test]
fn removing_a_setting_keeps_its_comment() {
    let after = edited(FILE, |edit| {
        edit.unset(&["gateway", "hold"]);
        Ok(())
    });
    assert!(!after.contains("hold"), "{after}");
    assert!(after.contains("# Some calls take their time.\n"), "{after}");
    edited(FILE, |edit| {
        edit.unset(&["gateway", "listen"]);
        edit.unset(&["nothing", "here"]);
        Ok(())
    });
}

#[test]
fn missing_settings_are_written_in_the_usual_layout() {
    let after = edited("", |edit| {
        edit.set_port(7421)?;
        edit.set(&["tray", "notifications"], "none")?;
        edit.add_upstream(&NewUpstream {
            name: "notes".into(),
            title: Some("Notes".into()),
            way: ServerSpec::Http {
                url: "http://127.0.0.1:1/mcp".into(),
                headers: BTreeMap::from([("X-Team".into(), "blue".into())]),
                sign_in: Some(NewSignIn {
                    client_id: Some("mine".into()),
                    client_secret: Some("${keyring:notes}".into()),
                    scopes: vec!["read".into()],
                }),
            },
        })?;
        edit.set(&["upstreams", "notes", "tools", "deny"], vec!["erase".to_owned()])?;
        edit.set(&["editors", "cursor", "tools", "allow"], vec!["notes__*".to_owned()])
    });
    assert_eq!(
        after,
        "\n[gateway]\nlisten = \"127.0.0.1:7421\"\n\n[tray]\nnotifications = \"none\"\n\n\
         [upstreams.notes]\ntitle = \"Notes\"\nurl = \"http://127.0.0.1:1/mcp\"\n\
         headers = { X-Team = \"blue\" }\nauth = \"oauth\"\n\
         oauth = { client_id = \"mine\", client_secret = \"${keyring:notes}\", scopes = [\"read\"] }\n\
         tools.deny = [\"erase\"]\n\n\
         [editors.cursor]\ntools.allow = [\"notes__*\"]\n"
            .trim_start()
    );
}

#[test]
fn a_program_is_added_at_the_end() {
    let program = NewUpstream {
        name: "files".into(),
        title: None,
        way: ServerSpec::Program {
            command: "npx".into(),
            args: vec!["-y".into(), "server".into()],
            env: BTreeMap::from([("A".into(), "1".into())]),
            cwd: Some("~/code".into()),
        },
    };
    let after = edited(FILE, |edit| edit.add_upstream(&program));
    let entry = "[upstreams.files]\ncommand = \"npx\"\nargs = [\"-y\", \"server\"]\nenv = { A = \"1\" }\ncwd = \"~/code\"\n";
    assert!(after.contains(entry), "{after}");
    assert_eq!(comments(&after), comments(FILE));
    let mut again = ConfigEdit::of(&after).unwrap();
    assert!(again.add_upstream(&program).unwrap_err().remedy.contains("evermoor remove files"));
    let preset = ServerSpec::Preset("pieces-os".into());
    let app = NewUpstream { name: "more".into(), title: None, way: preset };
    assert!(edited("", |edit| edit.add_upstream(&app)).contains("preset = \"pieces-os\""));
}

#[test]
fn removing_an_upstream_removes_only_the_comment_directly_above_it() {
    let after = edited(FILE, |edit| edit.remove_upstream("pieces"));
    assert!(!after.contains("PiecesOS") && !after.contains("delete_"), "{after}");
    assert!(after.contains("# Some calls") && after.contains("# At the end."), "{after}");
    let first = "# Mine.\n\n# A server.\n[upstreams.a]\nurl = \"http://x\"\n\n[upstreams.b]\nurl = \"http://y\"\n";
    let after = edited(first, |edit| edit.remove_upstream("a"));
    assert_eq!(after, "# Mine.\n\n[upstreams.b]\nurl = \"http://y\"\n");
    let after = edited(&after, |edit| edit.remove_upstream("b"));
    assert!(after.contains("# Mine.") && !after.contains('['), "{after}");
}

#[test]
fn an_upstream_is_turned_off_and_on() {
    let on = edited(FILE, |edit| edit.set_enabled("notes", true));
    assert_eq!(on, FILE.replace("enabled = false\n", ""));
    assert_eq!(edited(&on, |edit| edit.set_enabled("notes", false)), FILE);
    let mut edit = ConfigEdit::of(FILE).unwrap();
    assert!(edit.set_enabled("demo", false).unwrap_err().what.contains("no server `demo`"));
}

#[test]
fn a_tool_is_hidden_and_shown_in_the_layout_of_the_list() {
    let hidden = edited(FILE, |edit| edit.set_tool_shown("pieces", "write", false));
    assert_eq!(hidden, FILE.replace("  \"erase\",\n", "  \"erase\",\n  \"write\",\n"));
    assert_eq!(edited(&hidden, |edit| edit.set_tool_shown("pieces", "write", true)), FILE);
    let hidden = edited(FILE, |edit| edit.set_tool_shown("notes", "write", false));
    assert!(hidden.contains("enabled = false\ntools.deny = [\"write\"]\n"), "{hidden}");
    assert_eq!(edited(&hidden, |edit| edit.set_tool_shown("notes", "write", true)), FILE);
    let shown = edited(FILE, |edit| edit.set_tool_shown("pieces", "erase", true));
    assert_eq!(comments(&shown), comments(FILE));
}

#[test]
fn a_tool_that_a_pattern_hides_cannot_be_shown() {
    let mut edit = ConfigEdit::of(FILE).unwrap();
    let refused = edit.set_tool_shown("pieces", "delete_all", true).unwrap_err();
    assert_eq!(refused.what, "The deny pattern `delete_*` hides `delete_all`.");
    assert!(edit.set_tool_shown("pieces", "a*b", false).is_err());
}

#[test]
fn a_tool_is_shown_by_adding_it_to_the_allow_list() {
    let text = "[upstreams.a]\nurl = \"http://x\"\ntools = { allow = [\"read_*\"], deny = [\"read_me\"] }\n";
    let after = edited(text, |edit| edit.set_tool_shown("a", "write", true));
    assert_eq!(after, text.replace("[\"read_*\"]", "[\"read_*\", \"write\"]"));
    let after = edited(text, |edit| edit.set_tool_shown("a", "read_me", true));
    assert!(Config::parse(&after).unwrap().upstreams[0].filters.tools.passes("read_me"), "{after}");
}

#[test]
fn a_tool_with_the_name_of_a_list_is_not_overwritten() {
    let text = "[upstreams.a]\nurl = \"http://x\"\ntools.deny.retry = \"safe\"\n";
    let mut edit = ConfigEdit::of(text).unwrap();
    assert!(edit.set_tool_shown("a", "write", false).is_err());
}

#[test]
fn an_invalid_result_is_refused_with_its_line() {
    let mut edit = ConfigEdit::of(FILE).unwrap();
    edit.set(&["gateway", "hold"], "soon").unwrap();
    let refused = edit.done().unwrap_err();
    assert_eq!(refused.line, Some(7), "{refused}");
    assert!(ConfigEdit::of("[gatway]\n").is_err());
    let mut edit = ConfigEdit::of(FILE).unwrap();
    assert!(edit.set(&["version", "x"], "y").is_err(), "that is no table");
    assert!(edit.set(&["upstreams", "notes"], "y").is_err(), "that is a table");
}

#[test]
fn line_endings_are_kept() {
    let text = FILE.replace('\n', "\r\n");
    let after = edited(&text, |edit| edit.set_enabled("pieces", false));
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
}

/// An entry in one of TOML's notations, with comments.
fn entry(name: &str, style: u8, deny: &BTreeSet<String>) -> String {
    let list = deny.iter().map(|one| format!("\"{one}\"")).collect::<Vec<_>>();
    let (row, column) = (list.join(", "), list.join(", # why\n  "));
    match style {
        0 => format!(
            "# {name}\n[upstreams.{name}]\nurl = \"http://{name}\" # at\ntools.deny = [{row}]\n\n"
        ),
        1 => format!(
            "[upstreams.{name}]\nurl = \"http://{name}\"\n[upstreams.{name}.tools]\n# denied\ndeny = [\n  {column}\n]\n"
        ),
        2 => format!(
            "[upstreams.{name}]\nurl = \"http://{name}\"\ntools = {{ deny = [{row}] }} # short\n"
        ),
        3 => format!("[upstreams]\n{name} = {{ url = \"http://{name}\", tools.deny = [{row}] }}\n"),
        _ => format!(
            "upstreams.{name}.url = \"http://{name}\"\nupstreams.{name}.tools.deny = [{row}]\n"
        ),
    }
}

fn file() -> impl Strategy<Value = String> {
    let deny = prop::collection::btree_set("[a-e]", 0..4);
    let entries = prop::collection::vec((0_u8..3, deny.clone()), 1..3);
    let several = entries.prop_map(|entries| {
        let entries = ["one", "two", "three"].into_iter().zip(entries);
        let entries = entries.map(|(name, (style, deny))| entry(name, style, &deny));
        format!("# Top.\n\n{}", entries.collect::<String>())
    });
    let single = (3_u8..5, deny).prop_map(|(style, deny)| entry("one", style, &deny));
    prop_oneof![several, single]
}

/// The tools among these that pass the filter.
fn seen(filter: &Filter) -> Vec<String> {
    ["a", "b", "c", "d", "e", "f"]
        .iter()
        .filter(|name| filter.passes(name))
        .map(|name| (*name).to_owned())
        .collect()
}

proptest! {
    #[test]
    fn showing_or_hiding_a_tool_changes_nothing_else(text in file(), tool in "[a-f]", shown: bool) {
        let before = Config::parse(&text).unwrap();
        let mut edit = ConfigEdit::of(&text).unwrap();
        edit.set_tool_shown("one", &tool, shown).unwrap();
        let (after, mut config) = edit.done().unwrap();
        let of_one = |config: &Config| config.upstreams.iter().position(|one| one.name.as_str() == "one").unwrap();
        let (old, new) = (&before.upstreams[of_one(&before)].filters.tools, &config.upstreams[of_one(&config)].filters.tools);
        let mut wanted: BTreeSet<String> = seen(old).into_iter().collect();
        if shown { wanted.insert(tool.clone()); } else { wanted.remove(&tool); }
        prop_assert_eq!(seen(new).into_iter().collect::<BTreeSet<_>>(), wanted);
        let at = of_one(&config);
        config.upstreams[at].filters.tools = old.clone();
        prop_assert_eq!(config, before, "{}", after);
        prop_assert!(comments(&after).is_superset(&comments(&text).into_iter().filter(|one| one != "why").collect()), "{}", after);
    }

    #[test]
    fn turning_off_and_on_again_changes_nothing(text in file()) {
        let before = Config::parse(&text).unwrap();
        let off = edited(&text, |edit| edit.set_enabled("one", false));
        prop_assert_eq!(Config::parse(&off).unwrap().off.len(), 1);
        let on = edited(&off, |edit| edit.set_enabled("one", true));
        prop_assert_eq!(Config::parse(&on).unwrap(), before);
        prop_assert_eq!(comments(&on), comments(&text));
    }

    #[test]
    fn an_edit_is_valid_or_refused(text in file(), hold in "[0-9a-z\" ]{0,4}", port: u16) {
        let before = Config::parse(&text).unwrap();
        let mut edit = ConfigEdit::of(&text).unwrap();
        edit.set(&["gateway", "hold"], hold).unwrap();
        edit.set_port(port).unwrap();
        if let Ok((after, config)) = edit.done() {
            prop_assert_eq!(config.gateway.listen.port(), port);
            prop_assert_eq!(Config { gateway: before.gateway.clone(), ..config }, before, "{}", after);
            prop_assert!(comments(&after).is_superset(&comments(&text)));
        }
    }

    #[test]
    fn adding_and_removing_an_upstream_changes_nothing_else(text in file()) {
        let before = Config::parse(&text).unwrap();
        let new = NewUpstream { name: "new".into(), title: None, way: ServerSpec::Preset("pieces-os".into()) };
        let added = edited(&text, |edit| edit.add_upstream(&new));
        prop_assert_eq!(Config::parse(&added).unwrap().upstreams.len(), before.upstreams.len() + 1);
        let removed = edited(&added, |edit| edit.remove_upstream("new"));
        prop_assert_eq!(Config::parse(&removed).unwrap(), before);
        prop_assert_eq!(comments(&removed), comments(&text));
    }
}
