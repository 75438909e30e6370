//! The editors of the current user: where their files are, which servers the files have, and what
//! Evermoor changes in them.
//!
//! - [`location`]: the file, and the position in it, where an editor keeps its servers
//! - [`plan`]: works out a change
//! - [`apply`]: makes a planned change and undoes it
//! - [`command`]: the same through the editor's own command line program
//! - [`drift`]: whether an editor's entry is still the one that Evermoor wrote
//!
//! Depends on all other modules of this crate. Only [`crate::journal`] uses it, for locations.

pub mod apply;
pub mod command;
pub mod drift;
pub mod location;
pub mod plan;

use std::path::PathBuf;

use evermoor_platform::fs::replace;
use evermoor_platform::fs::replace::NotReplaced;
use evermoor_platform::paths::Paths;

use crate::editors::location::Spot;
use crate::entry::Entry;
use crate::format::tree::{Servers, Tree};
use crate::format::{Format, Untouchable};
use crate::journal::Journal;
use crate::table::folders::Places;
use crate::table::{Client, Language};

/// The editors of the current user, and the journal of what Evermoor changed in them.
#[derive(Clone, Debug)]
pub struct Desk {
    pub places: Places,
    pub journal: Journal,
}

/// Which configuration of an editor: the user's, or a project's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    User,
    Project,
}

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("{title} does not keep its servers in a file that Evermoor can edit")]
    NoFile { title: String },
    #[error("{} was not changed: {why}", path.display())]
    Untouchable { path: PathBuf, why: Untouchable },
    #[error("{} was not changed: it is not UTF-8 text", path.display())]
    NotText { path: PathBuf },
    #[error("{} already has a server `{name}` that does not point to Evermoor", path.display())]
    Taken { path: PathBuf, name: String },
    #[error(transparent)]
    File(#[from] NotReplaced),
    #[error("Evermoor cannot write its setup journal: {0}")]
    Journal(std::io::Error),
    #[error("{title} is not connected")]
    NotConnected { title: String },
}

impl Desk {
    /// The editors of the user who runs this program; `None` if there is no home folder.
    pub fn here(paths: &Paths) -> Option<Self> {
        Some(Self { places: Places::here()?, journal: Journal::below(&paths.data) })
    }

    /// The file in which an editor keeps its servers.
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

    /// Reads an editor's file. A missing file counts as an empty one.
    pub(crate) fn open(&self, client: &Client, scope: Scope) -> Result<Open, Refused> {
        let no_file = || Refused::NoFile { title: client.title.clone() };
        open_at(client, &self.spot(client, scope).ok_or_else(no_file)?)
    }

    /// The servers in an editor's file.
    pub fn existing(&self, client: &Client, scope: Scope) -> Result<Vec<Entry>, Refused> {
        let no_file = || Refused::NoFile { title: client.title.clone() };
        self.existing_at(client, &self.spot(client, scope).ok_or_else(no_file)?)
    }

    /// The same for another location than the editor's usual one.
    pub fn existing_at(&self, client: &Client, spot: &Spot) -> Result<Vec<Entry>, Refused> {
        let open = open_at(client, spot)?;
        let entries = open.servers.entries(&open.tree).into_iter();
        Ok(entries.filter_map(|(name, tree)| Entry::read(client, &name, tree)).collect())
    }
}

/// Reads an editor's file at a location.
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
    /// Where the servers are in the file.
    pub(crate) servers: Servers,
    pub(crate) format: Format,
    pub(crate) content: Option<Vec<u8>>,
    pub(crate) text: String,
    pub(crate) tree: Tree,
}
