//! Where an editor keeps its servers: a file, and the position in it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use evermoor_core::import::EntryScope;

use crate::format::tree::{ServersPath, Tree};
use crate::table::EditorSpec;
use crate::user_editors::{SetupScope, UserEditors, open_at};

/// A file, and the path to the servers in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigLocation {
    pub path: PathBuf,
    /// Names before the usual path, for the servers of one project in the user's file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
}

impl ConfigLocation {
    /// The usual position in a file.
    pub fn of(path: PathBuf) -> Self {
        Self { path, within: Vec::new() }
    }

    /// The path to the servers in the file.
    pub fn servers(&self, client: &EditorSpec) -> ServersPath {
        let path = self.within.iter().chain(&client.servers.path).cloned().collect();
        ServersPath { path, list: client.servers.list }
    }
}

impl UserEditors {
    /// Where an editor keeps the servers of a scope.
    pub fn location(&self, client: &EditorSpec, scope: SetupScope) -> Option<ConfigLocation> {
        self.path(client, scope).map(ConfigLocation::of)
    }

    /// Where an editor keeps the servers of an owner.
    pub fn location_for(&self, client: &EditorSpec, whose: &EntryScope) -> Option<ConfigLocation> {
        match whose {
            EntryScope::Person => self.location(client, SetupScope::User),
            EntryScope::Project(folder) => {
                let file = client.project.as_ref()?;
                Some(ConfigLocation::of(self.folders.below(PathBuf::from(folder), file)))
            }
            EntryScope::UserInProject(folder) => {
                let within = vec![client.projects.clone()?, folder.clone()];
                Some(ConfigLocation { within, ..self.location(client, SetupScope::User)? })
            }
        }
    }

    /// All owners of servers in an editor's files: the user, the user in single projects, and the
    /// project in the current folder.
    pub fn owners(&self, client: &EditorSpec) -> Vec<EntryScope> {
        let own = self.location(client, SetupScope::User);
        let projects = client.projects.as_ref().zip(own.as_ref());
        let projects = projects.and_then(|(name, own)| {
            let tree = open_at(client, own).ok()?.tree;
            let folders = tree.get(name)?.as_map()?.iter();
            let has_servers = |project: &Tree| project.at(&client.servers.path).is_some();
            let folders = folders.filter(|(_, project)| has_servers(project));
            Some(
                folders
                    .map(|(folder, _)| EntryScope::UserInProject(folder.clone()))
                    .collect::<Vec<_>>(),
            )
        });
        let here = EntryScope::Project(self.folders.project.display().to_string());
        // In the home folder, the project's file can be the user's file.
        let shared =
            self.location_for(client, &here).filter(|location| own.as_ref() != Some(location));
        let mut owners = vec![EntryScope::Person];
        owners.extend(projects.unwrap_or_default());
        owners.extend(shared.map(|_| here));
        owners
    }
}
