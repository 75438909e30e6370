//! The table of known editors, read once from `editors.toml`.
//!
//! - [`ConfigLanguage`]: the language of an editor's file: a [`Format`], or Elisp, which is never
//!   edited
//! - [`folders`]: resolves the paths in the table on each system
//! - [`self_check`]: how an editor is asked whether it can use an entry
//!
//! Depends on [`crate::format`] to read the table.

pub mod folders;
pub mod self_check;

use std::sync::OnceLock;
use std::time::Duration;

use evermoor_core::policy::first_list::ListHabits;

use evermoor_core::catalog::naming::NameStyle;

use crate::entry::desired::EditorTransport;
use crate::format::Format;
use crate::format::tree::{ServersPath, Tree};
use crate::table::folders::PathTemplate;
use crate::table::self_check::SelfCheck;

/// One row of the table: an editor or agent that is an MCP client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorSpec {
    /// Its name in commands.
    pub id: String,
    pub title: String,
    /// The file in which it keeps its servers; `None` if Evermoor cannot write there.
    pub file: Option<PathTemplate>,
    /// Other paths of that file, used if they exist.
    pub also: Vec<PathTemplate>,
    /// The file with the servers of a project, relative to the project folder.
    pub project: Option<String>,
    /// The key in its user file that holds the user's servers per project folder.
    pub projects: Option<String>,
    pub language: ConfigLanguage,
    pub servers: ServersPath,
    /// The template of an entry that starts a program.
    pub stdio: Tree,
    /// The template of an entry with a URL, if it supports HTTP.
    pub http: Option<Tree>,
    /// How it reaches the gateway unless the user chooses: the transport that survives more.
    pub transport: EditorTransport,
    /// How it is asked whether it can use an entry, if it can tell.
    pub check: Option<SelfCheck>,
    /// Its own command line program, which is safer than an edit of its file.
    pub command: Option<String>,
    pub link: Option<String>,
    pub paste: Option<String>,
    /// What a new file must have in addition to servers.
    pub head: Option<Tree>,
    pub signs: Vec<PathTemplate>,
    pub programs: Vec<String>,
    /// The names that it sends to a server for itself. A `*` at the end stands for any text.
    pub speaks_as: Vec<String>,
    /// What the names of tools and prompts must look like for it to use them.
    pub names: NameStyle,
    /// How it treats lists and slow servers, where measured.
    pub list_habits: ListHabits,
    pub variables: Vec<String>,
    /// What the user has to do before it uses a new entry.
    pub notices: String,
}

/// The language of its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigLanguage {
    Of(Format),
    /// Code, which Evermoor never edits.
    Elisp,
}

/// Every editor that Evermoor knows.
pub fn clients() -> &'static [EditorSpec] {
    static TABLE: OnceLock<Vec<EditorSpec>> = OnceLock::new();
    TABLE.get_or_init(|| read(include_str!("../../editors.toml")))
}

/// The editor with this id.
pub fn client(id: &str) -> Option<&'static EditorSpec> {
    clients().iter().find(|client| client.id == id)
}

fn read(text: &str) -> Vec<EditorSpec> {
    let table = Format::Toml.read(text).expect("editors.toml is valid");
    let rows = table.get("client").and_then(Tree::as_list).unwrap_or_default();
    rows.iter().map(row).collect()
}

fn row(row: &Tree) -> EditorSpec {
    let text = |name: &str| row.get(name).and_then(Tree::as_text).map(str::to_owned);
    let need = |name: &str| text(name).unwrap_or_else(|| panic!("every row has {name}: {row:?}"));
    let texts = |name: &str| {
        let items = row.get(name).and_then(Tree::as_list).unwrap_or_default();
        items.iter().filter_map(Tree::as_text).map(str::to_owned).collect::<Vec<_>>()
    };
    let unknown = ListHabits::UNKNOWN;
    let seconds = |found: &Tree| {
        let number = found.to_plain().and_then(|number| number.parse().ok());
        Duration::from_secs(number.unwrap_or_else(|| panic!("not a number of seconds: {found:?}")))
    };
    let template = |text: &String| PathTemplate::same_everywhere(text);
    EditorSpec {
        id: need("id"),
        title: need("title"),
        file: row.get("file").map(PathTemplate::read),
        also: texts("also").iter().map(template).collect(),
        project: text("project"),
        projects: text("projects"),
        language: match need("format").as_str() {
            "elisp" => ConfigLanguage::Elisp,
            name => ConfigLanguage::Of(
                Format::from_name(name).unwrap_or_else(|| panic!("no format is called {name}")),
            ),
        },
        servers: ServersPath {
            path: texts("servers"),
            list: row.get("list") == Some(&Tree::Bool(true)),
        },
        stdio: row.get("stdio").cloned().unwrap_or(Tree::Map(Vec::new())),
        http: row.get("http").cloned(),
        transport: match (text("transport").as_deref(), row.get("http")) {
            (Some("stdio"), _) | (None, None) => EditorTransport::Stdio,
            (None, Some(_)) => EditorTransport::Http,
            (Some(other), _) => panic!("no other transport is preferred: {other}"),
        },
        check: row.get("check").map(SelfCheck::read),
        command: text("command"),
        link: text("link"),
        paste: text("paste"),
        head: row.get("head").cloned(),
        signs: texts("signs").iter().map(template).collect(),
        programs: texts("programs"),
        speaks_as: texts("speaks_as"),
        names: row.get("names").map_or(NameStyle::USUAL, name_style),
        list_habits: ListHabits {
            rereads: row.get("rereads").map_or(unknown.rereads, |found| *found == Tree::Bool(true)),
            start_limit: row.get("start_limit").map_or(unknown.start_limit, seconds),
        },
        variables: texts("variables"),
        notices: need("notices"),
    }
}

fn name_style(names: &Tree) -> NameStyle {
    let separator = names.get("separator").and_then(Tree::as_text);
    let longest = names.get("longest").and_then(Tree::to_plain).and_then(|text| text.parse().ok());
    let style = separator.zip(longest).and_then(|(separator, longest)| {
        // The table is read once and stays.
        NameStyle::new(String::leak(separator.to_owned()), longest)
    });
    style.unwrap_or_else(|| panic!("names that can be told apart: {names:?}"))
}

impl EditorSpec {
    /// Whether a client with this name is this editor.
    pub fn is_client(&self, client: &str) -> bool {
        let fits = |name: &String| match name.strip_suffix('*') {
            Some(start) => client
                .get(..start.len())
                .is_some_and(|beginning| beginning.eq_ignore_ascii_case(start)),
            None => name.eq_ignore_ascii_case(client),
        };
        self.speaks_as.iter().any(fits)
    }
}

/// What names must look like for a client with an editor's token. The client counts too: some editors
/// also read the servers of others.
pub fn names_for(editor: &str, client: &str) -> NameStyle {
    static UNUSUAL: OnceLock<Vec<&EditorSpec>> = OnceLock::new();
    let unusual = UNUSUAL.get_or_init(|| {
        clients().iter().filter(|client| client.names != NameStyle::USUAL).collect()
    });
    let needs = |spec: &&&EditorSpec| spec.id == editor || spec.is_client(client);
    unusual.iter().find(needs).map_or(NameStyle::USUAL, |spec| spec.names)
}

/// How the client of an editor treats lists. The editor's token tells which client it is; without a token
/// of its own, the name that the client sends does.
pub fn list_habits(editor: &str, client_name: Option<&str>) -> ListHabits {
    let speaks = |row: &&EditorSpec| client_name.is_some_and(|sent| row.is_client(sent));
    let row = client(editor).or_else(|| clients().iter().find(speaks));
    row.map_or(ListHabits::UNKNOWN, |row| row.list_habits)
}

/// The id that the user most likely meant.
pub fn did_you_mean(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let same = |client: &&EditorSpec| client.title.to_lowercase() == name;
    if let Some(client) = clients().iter().find(same) {
        return Some(&client.id);
    }
    let ranked = clients().iter().map(|client| (distance(&name, &client.id), client));
    let (distance, client) = ranked.min_by_key(|(distance, _)| *distance)?;
    let contained = || clients().iter().find(|client| name.len() > 2 && client.id.contains(&name));
    if distance <= 1 + name.len() / 4 {
        Some(&client.id)
    } else {
        contained().map(|client| client.id.as_str())
    }
}

/// The edit distance of two texts.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let cost = corner + usize::from(a != *b);
            corner = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(corner + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_id_is_unique() {
        let mut ids: Vec<&str> = clients().iter().map(|client| client.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 38);
    }

    #[test]
    fn a_client_is_known_by_its_token_or_else_by_the_name_that_it_sends() {
        let rereads = |editor, name| list_habits(editor, name).rereads;
        assert!(rereads("claude-code", None) && rereads("local", Some("claude-code")));
        assert!(!rereads("codex", Some("claude-code")) && !rereads("local", None));
        assert_eq!(list_habits("local", Some("no such client")), ListHabits::UNKNOWN);
        let limit = list_habits("local", Some("Gemini-CLI-MCP-client")).start_limit;
        assert_eq!(limit, Duration::from_secs(60));
    }

    #[test]
    fn every_row_has_a_file_or_a_paste_hint_and_a_notice() {
        for client in clients() {
            assert!(client.file.is_some() != client.paste.is_some(), "{}", client.id);
            assert!(client.notices.ends_with('.'), "{}", client.id);
            assert!(
                client.stdio.get("command").or(client.stdio.get("cmd")).is_some(),
                "{}",
                client.id
            );
            assert!(client.id.len() <= 32 && !client.servers.path.is_empty());
        }
    }

    #[test]
    fn a_client_that_needs_other_names_is_known_by_its_token_and_by_its_own_name() {
        let grok = client("grok").unwrap().names;
        assert_ne!(grok, NameStyle::USUAL);
        assert_eq!(names_for("grok", "anything"), grok);
        assert_eq!(names_for("claude-code", "grok-shell-evermoor"), grok);
        assert_eq!(names_for("claude-code", "claude-code"), NameStyle::USUAL);
        assert_eq!(names_for("local", ""), NameStyle::USUAL);
    }

    #[test]
    fn a_client_is_recognised_by_a_name_that_contains_the_entry() {
        let grok = client("grok").unwrap();
        for name in ["grok", "Grok", "grok-shell-evermoor", "grok-shell-"] {
            assert!(grok.is_client(name), "{name}");
        }
        for name in ["", "grok-shell", "grokking", "grök-shell-x", "other"] {
            assert!(!grok.is_client(name), "{name}");
        }
    }

    #[test]
    fn a_misspelled_name_gets_a_suggestion() {
        for (wrong, right) in [
            ("cursr", "cursor"),
            ("claude", "claude-code"),
            ("VS Code", "vscode"),
            ("gemini", "gemini-cli"),
            ("open-code", "opencode"),
        ] {
            assert_eq!(did_you_mean(wrong), Some(right), "{wrong}");
        }
        assert_eq!(did_you_mean("something else"), None);
    }
}
