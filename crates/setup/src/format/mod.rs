//! Reading and editing the formats that editors keep their servers in.
//!
//! # Theory of operation
//! A parser says where things are; the edit itself is a few pieces of text that are put in or taken
//! out, so that all other bytes stay. What came out is read again, and only if every other value is
//! as it was and ours is as it should be does anybody get to see it.

mod json;
mod json_text;
pub(crate) mod text;
mod toml;
mod toml_text;
pub mod tree;
mod yaml;
mod yaml_read;
mod yaml_text;

use tree::{Servers, Tree};

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// With or without comments and trailing commas: what is there stays, what is written is plain JSON.
    Json,
    Toml,
    Yaml,
}

/// Why a text is left alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untouchable {
    #[error("it cannot be read as {format}: {why}")]
    Unreadable { format: &'static str, why: String },
    #[error("`{0}` in it is not what Evermoor expects there")]
    Shape(String),
    #[error("an edit would have changed something else in it")]
    Harm,
}

/// What to do with one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Put(String, Tree),
    Remove(String),
}

impl Change {
    pub fn name(&self) -> &str {
        match self {
            Self::Put(name, _) | Self::Remove(name) => name,
        }
    }
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
        }
    }

    /// The whole value of a text. A text without any value is an empty map.
    pub fn read(self, text: &str) -> Result<Tree, Untouchable> {
        let (_, text) = text::marked(text);
        let read = match self {
            Self::Json => json::read(text),
            Self::Toml => toml::read(text),
            Self::Yaml => yaml_read::read(text),
        };
        let read = read.map_err(|why| self.unreadable(why))?;
        Ok(if read == Tree::Null { Tree::Map(Vec::new()) } else { read })
    }

    /// The text after some changes, or nothing at all. With `tidy`, a place for servers that has none
    /// left is taken out too.
    pub fn edit(
        self,
        before: &str,
        servers: &Servers,
        changes: &[Change],
        tidy: bool,
    ) -> Result<String, Untouchable> {
        let (mark, bare) = text::marked(before);
        let mut after = bare.to_owned();
        for change in changes {
            let edited = match (self, change) {
                (Self::Json, Change::Put(name, entry)) => json::put(&after, servers, name, entry),
                (Self::Json, Change::Remove(name)) => json::remove(&after, servers, name, tidy),
                (Self::Toml, Change::Put(name, entry)) => toml::put(&after, servers, name, entry),
                (Self::Toml, Change::Remove(name)) => toml::remove(&after, servers, name, tidy),
                (Self::Yaml, Change::Put(name, entry)) => yaml::put(&after, servers, name, entry),
                (Self::Yaml, Change::Remove(name)) => yaml::remove(&after, servers, name, tidy),
            };
            after = edited.map_err(|trouble| match trouble {
                Trouble::Read(why) => self.unreadable(why),
                Trouble::Shape(what) => Untouchable::Shape(what),
            })?;
        }
        self.check(bare, &after, servers, changes)?;
        Ok(format!("{mark}{after}"))
    }

    /// That the changes are made and nothing else is.
    fn check(
        self,
        before: &str,
        after: &str,
        servers: &Servers,
        changes: &[Change],
    ) -> Result<(), Untouchable> {
        let before = self.read(before)?;
        let after = self.read(after).map_err(|_| Untouchable::Harm)?;
        for change in changes {
            let there = servers.entry(&after, change.name());
            let done = match change {
                Change::Put(_, entry) => there == Some(entry),
                Change::Remove(_) => there.is_none(),
            };
            if !done {
                return Err(Untouchable::Harm);
            }
        }
        let names: Vec<&str> = changes.iter().map(Change::name).collect();
        let same = before.without(servers, &names) == after.without(servers, &names);
        if same { Ok(()) } else { Err(Untouchable::Harm) }
    }

    /// An entry alone, as a person would paste it into an empty file.
    pub fn snippet(self, servers: &Servers, entries: &[(String, Tree)]) -> String {
        let put = |(name, entry): &(String, Tree)| Change::Put(name.clone(), entry.clone());
        let changes: Vec<Change> = entries.iter().map(put).collect();
        self.edit("", servers, &changes, false).unwrap_or_default()
    }

    /// What a new file begins with.
    pub(crate) fn head(self, head: &Tree) -> String {
        let pairs = head.as_map().unwrap_or_default();
        match self {
            Self::Yaml => {
                pairs.iter().map(|(name, value)| yaml_text::pair(name, value, 0, "\n")).collect()
            }
            Self::Json | Self::Toml => String::new(),
        }
    }

    /// A value as JSON on one line.
    pub fn json_line(tree: &Tree) -> String {
        json_text::minified(tree)
    }

    fn unreadable(self, why: String) -> Untouchable {
        Untouchable::Unreadable { format: self.name(), why }
    }
}

/// What stands in the way of an edit.
#[derive(Debug)]
enum Trouble {
    Read(String),
    Shape(String),
}
