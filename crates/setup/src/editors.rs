//! One person's editors: where their files are, and what servers they have.

use std::path::PathBuf;

use evermoor_platform::fs::replace;
use evermoor_platform::fs::replace::NotReplaced;
use evermoor_platform::paths::Paths;

use crate::entry::Entry;
use crate::format::tree::{Servers, Tree};
use crate::format::{Format, Untouchable};
use crate::journal::Journal;
use crate::table::folders::Places;
use crate::table::location::Spot;
use crate::table::{Client, Language};

/// One person's editors, and what we did to them.
#[derive(Clone, Debug)]
pub struct Desk {
    pub places: Places,
    pub journal: Journal,
}

/// Whose servers: a person's, or a project's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    User,
    Project,
}

/// Why a file was left alone.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("{title} keeps its servers where Evermoor cannot write")]
    NoFile { title: String },
    #[error("{} was left alone: {why}", path.display())]
    Untouchable { path: PathBuf, why: Untouchable },
    #[error("{} was left alone: it is not text", path.display())]
    NotText { path: PathBuf },
    #[error("{} has a server `{name}` already, which does not lead to Evermoor", path.display())]
    Taken { path: PathBuf, name: String },
    #[error(transparent)]
    File(#[from] NotReplaced),
    #[error("Evermoor's own record cannot be written: {0}")]
    Journal(std::io::Error),
    #[error("{title} is not connected")]
    NotConnected { title: String },
}

impl Desk {
    /// The desk of whoever runs this program; `None` without a home folder.
    pub fn here(paths: &Paths) -> Option<Self> {
        Some(Self { places: Places::here()?, journal: Journal::below(&paths.data) })
    }

    /// The file of an editor's servers.
    pub fn path(&self, client: &Client, scope: Scope) -> Option<PathBuf> {
        match scope {
            Scope::Project => client.project.as_ref().map(|path| self.places.in_project(path)),
            Scope::User => {
                let other = client.also.iter().map(|place| self.places.find(place));
                let other = other.into_iter().find(|path| path.exists());
                other.or_else(|| client.file.as_ref().map(|place| self.places.find(place)))
            }
        }
    }

    /// What an editor's file says, with its format; no file is an empty one.
    pub(crate) fn open(&self, client: &Client, scope: Scope) -> Result<Open, Refused> {
        let nowhere = || Refused::NoFile { title: client.title.clone() };
        open_at(client, &self.spot(client, scope).ok_or_else(nowhere)?)
    }

    /// The servers that an editor's file has.
    pub fn existing(&self, client: &Client, scope: Scope) -> Result<Vec<Entry>, Refused> {
        let nowhere = || Refused::NoFile { title: client.title.clone() };
        self.existing_at(client, &self.spot(client, scope).ok_or_else(nowhere)?)
    }

    /// The same for a place that is not the editor's usual one.
    pub fn existing_at(&self, client: &Client, spot: &Spot) -> Result<Vec<Entry>, Refused> {
        let open = open_at(client, spot)?;
        let entries = open.servers.entries(&open.tree).into_iter();
        Ok(entries.filter_map(|(name, tree)| Entry::read(client, &name, tree)).collect())
    }
}

/// What a file of an editor says, wherever it is.
pub(crate) fn open_at(client: &Client, spot: &Spot) -> Result<Open, Refused> {
    let Language::Of(format) = client.language else {
        return Err(Refused::NoFile { title: client.title.clone() });
    };
    let path = spot.path.clone();
    let content = replace::content(&path)?;
    let text = String::from_utf8(content.clone().unwrap_or_default());
    let text = text.map_err(|_| Refused::NotText { path: path.clone() })?;
    let read = format.read(&text);
    let tree = read.map_err(|why| Refused::Untouchable { path: path.clone(), why })?;
    Ok(Open { servers: spot.servers(client), path, format, content, text, tree })
}

/// An editor's file as it was read.
pub(crate) struct Open {
    pub(crate) path: PathBuf,
    /// Where in it the servers are.
    pub(crate) servers: Servers,
    pub(crate) format: Format,
    pub(crate) content: Option<Vec<u8>>,
    pub(crate) text: String,
    pub(crate) tree: Tree,
}
