//! The table of editors: `clients.toml`, read once.

pub mod folders;
pub mod location;

use std::sync::OnceLock;

use crate::format::Format;
use crate::format::tree::{Servers, Tree};
use crate::table::folders::Place;

/// One row: an editor or agent that speaks MCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// What to call it in a command.
    pub id: String,
    pub title: String,
    /// Where it keeps its servers; nowhere that we may write, for those without.
    pub file: Option<Place>,
    /// Other places, taken if they exist.
    pub also: Vec<Place>,
    /// Where it keeps those of a project, below its folder.
    pub project: Option<String>,
    /// The name in its own file that leads to a person's servers of single projects, by folder.
    pub projects: Option<String>,
    pub language: Language,
    pub servers: Servers,
    /// An entry whose server is a program.
    pub stdio: Tree,
    /// An entry whose server is an address, if it can have one.
    pub http: Option<Tree>,
    /// Its own program, which adds servers more safely than an edit of its file.
    pub command: Option<String>,
    pub link: Option<String>,
    pub paste: Option<String>,
    /// What a new file must have besides servers.
    pub head: Option<Tree>,
    pub signs: Vec<Place>,
    pub programs: Vec<String>,
    pub speaks_as: Vec<String>,
    pub variables: Vec<String>,
    /// What it takes for it to use a new entry.
    pub notices: String,
}

/// What its servers are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Of(Format),
    /// A program that we never edit.
    Elisp,
}

/// Every editor that Evermoor knows.
pub fn clients() -> &'static [Client] {
    static TABLE: OnceLock<Vec<Client>> = OnceLock::new();
    TABLE.get_or_init(|| read(include_str!("../../clients.toml")))
}

/// The editor of this name.
pub fn client(id: &str) -> Option<&'static Client> {
    clients().iter().find(|client| client.id == id)
}

fn read(text: &str) -> Vec<Client> {
    let table = Format::Toml.read(text).expect("the table is a part of the program");
    let rows = table.get("client").and_then(Tree::as_list).unwrap_or_default();
    rows.iter().map(row).collect()
}

fn row(row: &Tree) -> Client {
    let text = |name: &str| row.get(name).and_then(Tree::as_text).map(str::to_owned);
    let need = |name: &str| text(name).unwrap_or_else(|| panic!("every row has {name}: {row:?}"));
    let texts = |name: &str| {
        let items = row.get(name).and_then(Tree::as_list).unwrap_or_default();
        items.iter().filter_map(Tree::as_text).map(str::to_owned).collect::<Vec<_>>()
    };
    let place = |text: &String| Place::everywhere(text);
    Client {
        id: need("id"),
        title: need("title"),
        file: row.get("file").map(Place::of),
        also: texts("also").iter().map(place).collect(),
        project: text("project"),
        projects: text("projects"),
        language: match need("format").as_str() {
            "json" => Language::Of(Format::Json),
            "toml" => Language::Of(Format::Toml),
            "yaml" => Language::Of(Format::Yaml),
            _ => Language::Elisp,
        },
        servers: Servers {
            way: texts("servers"),
            list: row.get("list") == Some(&Tree::Bool(true)),
        },
        stdio: row.get("stdio").cloned().unwrap_or(Tree::Map(Vec::new())),
        http: row.get("http").cloned(),
        command: text("command"),
        link: text("link"),
        paste: text("paste"),
        head: row.get("head").cloned(),
        signs: texts("signs").iter().map(place).collect(),
        programs: texts("programs"),
        speaks_as: texts("speaks_as"),
        variables: texts("variables"),
        notices: need("notices"),
    }
}

/// The known name that a person most likely meant.
pub fn did_you_mean(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let same = |client: &&Client| client.title.to_lowercase() == name;
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

/// How many letters differ.
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
    fn the_table_has_every_client_once() {
        let mut ids: Vec<&str> = clients().iter().map(|client| client.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 38);
    }

    #[test]
    fn every_row_can_be_connected_somehow_and_says_how_it_notices() {
        for client in clients() {
            assert!(client.file.is_some() != client.paste.is_some(), "{}", client.id);
            assert!(client.notices.ends_with('.'), "{}", client.id);
            assert!(
                client.stdio.get("command").or(client.stdio.get("cmd")).is_some(),
                "{}",
                client.id
            );
            assert!(client.id.len() <= 32 && !client.servers.way.is_empty());
        }
    }

    #[test]
    fn a_wrong_name_is_told_the_right_one() {
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
