//! The editors of the current user: where their files are, which servers the files have, and what
//! Evermoor changes in them. Each file has the methods of [`UserEditors`] about one subject, with the
//! types of that subject.
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
use evermoor_platform::fs::replace::ReplaceError;
use evermoor_platform::paths::Paths;

use crate::entry::ServerEntry;
use crate::format::tree::{ServersPath, Tree};
use crate::format::{EditError, Format};
use crate::journal::Journal;
use crate::table::folders::UserFolders;
use crate::table::{ConfigLanguage, EditorSpec};
use crate::user_editors::location::ConfigLocation;

/// The editors of the current user, and the journal of what Evermoor changed in them.
#[derive(Clone, Debug)]
pub struct UserEditors {
    pub folders: UserFolders,
    pub journal: Journal,
}

/// Which configuration of an editor: the user's, or a project's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupScope {
    User,
    Project,
}

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("{title} does not keep its servers in a file that Evermoor can edit")]
    NoFile { title: String },
    #[error("{} was not changed: {why}", path.display())]
    Untouchable { path: PathBuf, why: EditError },
    #[error("{} was not changed: it is not UTF-8 text", path.display())]
    NotText { path: PathBuf },
    #[error("{} already has a server `{name}` that does not point to Evermoor", path.display())]
    Taken { path: PathBuf, name: String },
    #[error(transparent)]
    File(#[from] ReplaceError),
    #[error("Evermoor cannot write its setup journal: {0}")]
    Journal(std::io::Error),
    #[error("{title} is not connected")]
    NotConnected { title: String },
}

impl UserEditors {
    /// The editors of the user who runs this program; `None` if there is no home folder.
    pub fn here(paths: &Paths) -> Option<Self> {
        Some(Self { folders: UserFolders::here()?, journal: Journal::below(&paths.data) })
    }

    /// The file in which an editor keeps its servers.
    pub fn path(&self, client: &EditorSpec, scope: SetupScope) -> Option<PathBuf> {
        match scope {
            SetupScope::Project => {
                client.project.as_ref().map(|path| self.folders.in_project(path))
            }
            SetupScope::User => {
                let other = client.also.iter().map(|place| self.folders.find(place));
                let other = other.into_iter().find(|path| path.exists());
                other.or_else(|| client.file.as_ref().map(|place| self.folders.find(place)))
            }
        }
    }

    /// Reads an editor's file. A missing file counts as an empty one.
    pub(crate) fn open(
        &self,
        client: &EditorSpec,
        scope: SetupScope,
    ) -> Result<OpenFile, SetupError> {
        let no_file = || SetupError::NoFile { title: client.title.clone() };
        open_at(client, &self.location(client, scope).ok_or_else(no_file)?)
    }

    /// The servers in an editor's file.
    pub fn existing(
        &self,
        client: &EditorSpec,
        scope: SetupScope,
    ) -> Result<Vec<ServerEntry>, SetupError> {
        let no_file = || SetupError::NoFile { title: client.title.clone() };
        self.existing_at(client, &self.location(client, scope).ok_or_else(no_file)?)
    }

    /// The same for another location than the editor's usual one.
    pub fn existing_at(
        &self,
        client: &EditorSpec,
        location: &ConfigLocation,
    ) -> Result<Vec<ServerEntry>, SetupError> {
        let open = open_at(client, location)?;
        let entries = open.servers.entries(&open.tree).into_iter();
        Ok(entries.filter_map(|(name, tree)| ServerEntry::read(client, &name, tree)).collect())
    }
}

/// Reads an editor's file at a location.
pub(crate) fn open_at(
    client: &EditorSpec,
    location: &ConfigLocation,
) -> Result<OpenFile, SetupError> {
    let ConfigLanguage::Of(format) = client.language else {
        return Err(SetupError::NoFile { title: client.title.clone() });
    };
    let path = location.path.clone();
    let content = replace::content(&path)?;
    let text = String::from_utf8(content.clone().unwrap_or_default());
    let text = text.map_err(|_| SetupError::NotText { path: path.clone() })?;
    let read = format.read(&text);
    let tree = read.map_err(|why| SetupError::Untouchable { path: path.clone(), why })?;
    Ok(OpenFile { servers: location.servers(client), path, format, content, text, tree })
}

/// An editor's file as it was read.
pub(crate) struct OpenFile {
    pub(crate) path: PathBuf,
    /// Where the servers are in the file.
    pub(crate) servers: ServersPath,
    pub(crate) format: Format,
    pub(crate) content: Option<Vec<u8>>,
    pub(crate) text: String,
    pub(crate) tree: Tree,
}
