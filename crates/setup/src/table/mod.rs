//! The table of known editors, read once from `editors.toml`.
//!
//! - [`ConfigLanguage`]: the language of an editor's file: a [`Format`], or Elisp, which is never
//!   edited
//! - [`folders`]: resolves the paths in the table on each system
//!
//! Depends on [`crate::format`] to read the table.

pub mod folders;

use std::sync::OnceLock;

use crate::format::Format;
use crate::format::tree::{ServersPath, Tree};
use crate::table::folders::PathTemplate;

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
    /// Its own command line program, which is safer than an edit of its file.
    pub command: Option<String>,
    pub link: Option<String>,
    pub paste: Option<String>,
    /// What a new file must have in addition to servers.
    pub head: Option<Tree>,
    pub signs: Vec<PathTemplate>,
    pub programs: Vec<String>,
    pub speaks_as: Vec<String>,
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
        command: text("command"),
        link: text("link"),
        paste: text("paste"),
        head: row.get("head").cloned(),
        signs: texts("signs").iter().map(template).collect(),
        programs: texts("programs"),
        speaks_as: texts("speaks_as"),
        variables: texts("variables"),
        notices: need("notices"),
    }
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
