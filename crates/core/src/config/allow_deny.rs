//! Allow and deny lists in the file, and warnings about patterns that match nothing.
//!
//! A pattern that matches nothing is not an error, because an upstream may be added later. It is
//! reported as a warning with its line, so that typos are noticed.

use std::collections::BTreeMap;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

use super::tables::line;
use super::{ConfigError, EditorConfig};
use crate::catalog::filter::{Filter, Filters, Pattern};
use crate::catalog::naming::{UpstreamName, full_name};
use crate::catalog::visibility::{VisibilityRules, editor_heading};

type Patterns = Vec<Spanned<String>>;

/// An allow and a deny list.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListTable {
    allow: Option<Patterns>,
    #[serde(default)]
    deny: Patterns,
}

/// The `tools` table of an upstream: two lists, and settings of single tools by name. A tool may
/// also be named `allow` or `deny`.
#[derive(Default)]
pub(super) struct ToolsTable {
    pub(super) lists: ListTable,
    pub(super) tools: BTreeMap<String, ToolTable>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolTable {
    pub(super) retry: Retry,
}

#[derive(Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Retry {
    Safe,
    Never,
}

/// Reads the entry of an editor.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EditorTable {
    #[serde(default)]
    upstreams: ListTable,
    #[serde(default)]
    tools: ListTable,
    #[serde(default)]
    prompts: ListTable,
    #[serde(default)]
    resources: ListTable,
}

/// Reads the lists of an upstream's entry.
pub(super) fn of_upstream(
    text: &str,
    tools: &ToolsTable,
    prompts: &ListTable,
    resources: &ListTable,
) -> Result<Filters, ConfigError> {
    Ok(Filters {
        tools: filter(text, &tools.lists)?,
        prompts: filter(text, prompts)?,
        resources: filter(text, resources)?,
    })
}

/// The entry of an editor.
pub(super) fn of_editor(
    text: &str,
    name: &Spanned<String>,
    table: &EditorTable,
) -> Result<EditorConfig, ConfigError> {
    let items = Filters {
        tools: filter(text, &table.tools)?,
        prompts: filter(text, &table.prompts)?,
        resources: filter(text, &table.resources)?,
    };
    let upstreams = filter(text, &table.upstreams)?;
    Ok(EditorConfig {
        line: line(text, name.span().start),
        rules: VisibilityRules { upstreams, items },
    })
}

/// Warnings about patterns in an editor's entry that match none of these upstreams.
pub(super) fn warnings(
    text: &str,
    editor: &str,
    table: &EditorTable,
    upstreams: &[&UpstreamName],
) -> Vec<ConfigError> {
    let heading = editor_heading(editor);
    let unmatched = |list: &ListTable, matches: &dyn Fn(&Pattern, &UpstreamName) -> bool| {
        let matches_nothing = |written: &&Spanned<String>| {
            let pattern = Pattern::new(written.get_ref());
            !pattern.is_some_and(|pattern| upstreams.iter().any(|name| matches(&pattern, name)))
        };
        let found = list.patterns().filter(matches_nothing);
        let at = |written: &Spanned<String>| {
            (line(text, written.span().start), written.get_ref().clone())
        };
        found.map(at).collect::<Vec<_>>()
    };
    let known = upstreams.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let unknown = unmatched(&table.upstreams, &|pattern, name| pattern.matches(name.as_str()));
    let mut warnings: Vec<ConfigError> = unknown
        .into_iter()
        .map(|(line, written)| ConfigError {
            line: Some(line),
            what: format!("`{written}` in `upstreams` under {heading} is not a server."),
            remedy: format!("Write one of {known}."),
        })
        .collect();
    for (list, table, kind) in
        [("tools", &table.tools, "tool"), ("prompts", &table.prompts, "prompt")]
    {
        let begins =
            |pattern: &Pattern, name: &UpstreamName| pattern.can_begin(&full_name(name, ""));
        warnings.extend(unmatched(table, &begins).into_iter().map(|(line, written)| ConfigError {
            line: Some(line),
            what: format!(
                "`{written}` in `{list}` under {heading} matches nothing: there a {kind} is named \
                 <server>__<{kind}>, and the servers are {known}."
            ),
            remedy: format!("Write `*__{}`, or name the server.", tail(&written)),
        }));
    }
    warnings
}

/// The part after the upstream's name, or the whole text.
fn tail(written: &str) -> &str {
    written.split_once("__").map_or(written, |(_, tail)| tail)
}

fn filter(text: &str, table: &ListTable) -> Result<Filter, ConfigError> {
    let pattern = |written: &Spanned<String>| {
        Pattern::new(written.get_ref()).ok_or_else(|| ConfigError {
            line: Some(line(text, written.span().start)),
            what: "A name in the list is empty.".into(),
            remedy: "Write a name; * matches any characters.".into(),
        })
    };
    let all = |patterns: &Patterns| patterns.iter().map(pattern).collect::<Result<Vec<_>, _>>();
    Ok(Filter { allow: table.allow.as_ref().map(all).transpose()?, deny: all(&table.deny)? })
}

impl ListTable {
    fn patterns(&self) -> impl Iterator<Item = &Spanned<String>> {
        self.allow.iter().flatten().chain(&self.deny)
    }
}

impl<'de> Deserialize<'de> for ToolsTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ToolsVisitor;
        impl<'de> Visitor<'de> for ToolsVisitor {
            type Value = ToolsTable;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`allow`, `deny`, and tools by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut table = ToolsTable::default();
                while let Some(key) = map.next_key::<String>()? {
                    let is_list = key == "allow" || key == "deny";
                    if !is_list {
                        table.tools.insert(key, map.next_value()?);
                        continue;
                    }
                    match map.next_value()? {
                        ListOrTool::Tool(tool) => drop(table.tools.insert(key, tool)),
                        ListOrTool::List(list) if key == "allow" => table.lists.allow = Some(list),
                        ListOrTool::List(list) => table.lists.deny = list,
                    }
                }
                Ok(table)
            }
        }
        deserializer.deserialize_map(ToolsVisitor)
    }
}

/// The value of `allow` or `deny` in a `tools` table: a list, or the settings of a tool with that
/// name.
enum ListOrTool {
    List(Patterns),
    Tool(ToolTable),
}

impl<'de> Deserialize<'de> for ListOrTool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrToolVisitor;
        impl<'de> Visitor<'de> for ListOrToolVisitor {
            type Value = ListOrTool;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of names")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Patterns::new();
                while let Some(name) = seq.next_element()? {
                    list.push(name);
                }
                Ok(ListOrTool::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                ToolTable::deserialize(MapAccessDeserializer::new(map)).map(ListOrTool::Tool)
            }
        }
        deserializer.deserialize_any(ListOrToolVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;

    const TWO: &str =
        "[upstreams.notes]\nurl = \"http://x\"\n[upstreams.files]\nurl = \"http://y\"\n";

    fn config(text: &str) -> Config {
        Config::parse(&format!("{TWO}{text}")).unwrap()
    }

    fn warnings(text: &str) -> Vec<(usize, String)> {
        let found = config(text).warnings;
        found.iter().map(|doubt| (doubt.line.unwrap(), doubt.to_string())).collect()
    }

    #[test]
    fn lists_and_tool_settings_coexist_whatever_the_tools_are_named() {
        let config = Config::parse(
            "[upstreams.a]\nurl = \"http://x\"\ntools.allow = [\"read_*\", \"allow\"]\n\
             tools.deny.retry = \"safe\"\ntools.read_all.retry = \"safe\"\nprompts.deny = [\"*\"]\n\
             resources = { allow = [\"file:///public/*\"] }\n",
        );
        let upstream = &config.unwrap().upstreams[0];
        assert_eq!(upstream.retry_policy.safe_tools, ["deny", "read_all"]);
        let passing =
            ["read_all", "allow", "write"].map(|name| upstream.filters.tools.passes(name));
        assert_eq!(passing, [true, true, false]);
        assert!(!upstream.filters.prompts.passes("x"));
        assert!(upstream.filters.resources.passes("file:///public/1"));
    }

    #[test]
    fn lists_may_be_an_inline_table() {
        let text =
            "[upstreams.a]\nurl = \"http://x\"\ntools = { allow = [\"a\"], deny = [\"b\"] }\n";
        let filters = &Config::parse(text).unwrap().upstreams[0].filters;
        assert!(filters.tools.passes("a") && !filters.tools.passes("c"));
    }

    #[test]
    fn an_editor_has_its_own_lists() {
        let config = config(
            "[editors.cursor]\nupstreams.deny = [\"files\"]\ntools.allow = [\"notes__read*\"]\n",
        );
        let rules = &config.editors["cursor"].rules;
        assert!(!rules.upstreams.passes("files") && rules.upstreams.passes("notes"));
        assert!(rules.items.tools.passes("notes__read_all"));
        assert_eq!((config.editors["cursor"].line, config.warnings.len()), (5, 0));
    }

    #[test]
    fn errors_in_lists_have_their_line() {
        let line = |text: &str| Config::parse(&format!("{TWO}{text}")).unwrap_err().line;
        assert_eq!(line("[editors.a]\ntools.allow = [\n\"x\",\n\"\",\n]\n"), Some(8));
        assert_eq!(line("[editors.a]\ntool.allow = []\n"), Some(6));
        assert_eq!(line("tools.allow = \"x\"\n"), Some(5));
        assert_eq!(line("tools.x = [\"y\"]\n"), Some(5));
        assert_eq!(line("tools.deny = [1]\n"), Some(5));
        assert_eq!(line("prompts.allow = \"x\"\n"), Some(5));
        assert_eq!(line("enabled = \"no\"\n"), Some(5));
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_reported_with_its_line_and_a_remedy() {
        let found = warnings(
            "[editors.cursor]\nupstreams.allow = [\n\"notes\",\n\"flies\",\n]\ntools.deny = [\"delete_*\", \"*__erase\", \"fils__x\"]\n",
        );
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [8, 10, 10]);
        assert_eq!(
            found[0].1,
            "`flies` in `upstreams` under [editors.cursor] is not a server. Write one of `files`, `notes`."
        );
        assert_eq!(
            found[1].1,
            "`delete_*` in `tools` under [editors.cursor] matches nothing: there a tool is named \
             <server>__<tool>, and the servers are `files`, `notes`. Write `*__delete_*`, or name \
             the server."
        );
        assert!(found[2].1.contains("Write `*__x`"), "{}", found[2].1);
    }

    #[test]
    fn an_upstream_that_is_off_is_validated_but_not_enabled() {
        let text = "[upstreams.pics]\nurl = \"http://z\"\nenabled = false\n\
                    [editors.cursor]\nupstreams.allow = [\"pics\"]\n";
        let config = config(text);
        let names = |all: &[super::super::UpstreamConfig]| {
            all.iter().map(|one| one.name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(&config.upstreams), ["files", "notes"]);
        assert_eq!((names(&config.off), config.warnings.len()), (vec!["pics".to_owned()], 0));
        let only = Config::parse("[upstreams.a]\nurl = \"http://x\"\nenabled = false\n").unwrap();
        assert!(only.upstreams.is_empty(), "the demo does not replace it");
        assert!(Config::parse("[upstreams.a]\nenabled = false\n").is_err());
    }

    #[test]
    fn an_editor_entry_without_a_token_is_reported() {
        let config = config("[editors.cursor]\n[editors.zed]\n");
        let warnings = config.editors_without_token(|name| name == "zed");
        assert_eq!(warnings.len(), 1);
        assert_eq!(warnings[0].line, Some(5));
        assert!(warnings[0].remedy.contains("evermoor tokens add cursor"), "{}", warnings[0]);
    }
}
