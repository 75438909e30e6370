//! Reads and edits the file formats of editors: JSON, TOML and YAML. Emacs is configured in Elisp,
//! which is code: it is a [`ConfigLanguage`](crate::table::ConfigLanguage), not a [`Format`], and
//! Evermoor only shows a snippet of it.
//!
//! # Theory of operation
//! A parser finds the positions of values. An edit inserts or deletes a few pieces of text, so all
//! other bytes stay. Then the result is parsed again: the edit fails unless Evermoor's entry is as
//! requested and every other value is unchanged.
//!
//! # Layout
//! - [`tree`]: a value of any format
//! - `text`: edits of text by position
//! - `json`, `toml`, `yaml`: edits in each format; `yaml_read` parses YAML
//! - `json_text`, `toml_text`, `yaml_text`: write values in each format
//!
//! Depends on nothing else in this crate.

mod json;
mod json_text;
pub(crate) mod text;
mod toml;
mod toml_text;
pub mod tree;
mod yaml;
mod yaml_read;
mod yaml_text;

use tree::{ServersPath, Tree};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// With or without comments and trailing commas. Evermoor itself writes plain JSON.
    Json,
    Toml,
    Yaml,
}

/// Why a text cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("it cannot be read as {format}: {why}")]
    Unreadable { format: &'static str, why: String },
    #[error("`{0}` in it has an unexpected type")]
    Shape(String),
    #[error("the edit would have changed something else in it")]
    Harm,
}

/// A change of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryChange {
    Put(String, Tree),
    Remove(String),
}

impl EntryChange {
    pub fn name(&self) -> &str {
        match self {
            Self::Put(name, _) | Self::Remove(name) => name,
        }
    }
}

impl Format {
    /// The format with this name in `editors.toml`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "json" => Some(Self::Json),
            "toml" => Some(Self::Toml),
            "yaml" => Some(Self::Yaml),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
        }
    }

    /// Parses a text. A text without a value is an empty map.
    pub fn read(self, text: &str) -> Result<Tree, EditError> {
        let (_, text) = text::split_bom(text);
        let read = match self {
            Self::Json => json::read(text),
            Self::Toml => toml::read(text),
            Self::Yaml => yaml_read::read(text),
        };
        let read = read.map_err(|why| self.unreadable(why))?;
        Ok(if read == Tree::Null { Tree::Map(Vec::new()) } else { read })
    }

    /// The text with all changes made, or an error. With `tidy`, a map or list of servers that is
    /// empty afterwards is removed too.
    pub fn edit(
        self,
        before: &str,
        servers: &ServersPath,
        changes: &[EntryChange],
        tidy: bool,
    ) -> Result<String, EditError> {
        let (bom, bare) = text::split_bom(before);
        let mut after = bare.to_owned();
        for change in changes {
            let edited = match (self, change) {
                (Self::Json, EntryChange::Put(name, entry)) => {
                    json::put(&after, servers, name, entry)
                }
                (Self::Json, EntryChange::Remove(name)) => {
                    json::remove(&after, servers, name, tidy)
                }
                (Self::Toml, EntryChange::Put(name, entry)) => {
                    toml::put(&after, servers, name, entry)
                }
                (Self::Toml, EntryChange::Remove(name)) => {
                    toml::remove(&after, servers, name, tidy)
                }
                (Self::Yaml, EntryChange::Put(name, entry)) => {
                    yaml::put(&after, servers, name, entry)
                }
                (Self::Yaml, EntryChange::Remove(name)) => {
                    yaml::remove(&after, servers, name, tidy)
                }
            };
            after = edited.map_err(|error| match error {
                FormatError::Read(why) => self.unreadable(why),
                FormatError::Shape(what) => EditError::Shape(what),
            })?;
        }
        self.check(bare, &after, servers, changes)?;
        Ok(format!("{bom}{after}"))
    }

    /// Checks that the changes are made and nothing else changed.
    fn check(
        self,
        before: &str,
        after: &str,
        servers: &ServersPath,
        changes: &[EntryChange],
    ) -> Result<(), EditError> {
        let before = self.read(before)?;
        let after = self.read(after).map_err(|_| EditError::Harm)?;
        for change in changes {
            let there = servers.entry(&after, change.name());
            let done = match change {
                EntryChange::Put(_, entry) => there == Some(entry),
                EntryChange::Remove(_) => there.is_none(),
            };
            if !done {
                return Err(EditError::Harm);
            }
        }
        let names: Vec<&str> = changes.iter().map(EntryChange::name).collect();
        let same = before.without(servers, &names) == after.without(servers, &names);
        if same { Ok(()) } else { Err(EditError::Harm) }
    }

    /// The text of a file with these entries only, to paste.
    pub fn snippet(self, servers: &ServersPath, entries: &[(String, Tree)]) -> String {
        let put = |(name, entry): &(String, Tree)| EntryChange::Put(name.clone(), entry.clone());
        let changes: Vec<EntryChange> = entries.iter().map(put).collect();
        self.edit("", servers, &changes, false).unwrap_or_default()
    }

    /// The first lines of a new file.
    pub(crate) fn head(self, head: &Tree) -> String {
        let pairs = head.as_map().unwrap_or_default();
        match self {
            Self::Yaml => {
                pairs.iter().map(|(name, value)| yaml_text::pair(name, value, 0, "\n")).collect()
            }
            Self::Json | Self::Toml => String::new(),
        }
    }

    /// A value as one line of JSON.
    pub fn json_line(tree: &Tree) -> String {
        json_text::minified(tree)
    }

    fn unreadable(self, why: String) -> EditError {
        EditError::Unreadable { format: self.name(), why }
    }
}

/// Why one of the formats cannot make an edit.
#[derive(Debug)]
enum FormatError {
    Read(String),
    Shape(String),
}
