//! Where an editor keeps its servers: a file, and the position in it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use evermoor_core::import::Whose;

use crate::editors::{Desk, Scope, open_at};
use crate::format::tree::{Servers, Tree};
use crate::table::Client;

/// A file, and the path to the servers in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    pub path: PathBuf,
    /// Names before the usual path, for the servers of one project in the user's file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
}

impl Spot {
    /// The usual position in a file.
    pub fn of(path: PathBuf) -> Self {
        Self { path, within: Vec::new() }
    }

    /// The path to the servers in the file.
    pub fn servers(&self, client: &Client) -> Servers {
        let path = self.within.iter().chain(&client.servers.path).cloned().collect();
        Servers { path, list: client.servers.list }
    }
}

impl Desk {
    /// Where an editor keeps the servers of a scope.
    pub fn spot(&self, client: &Client, scope: Scope) -> Option<Spot> {
        self.path(client, scope).map(Spot::of)
    }

    /// Where an editor keeps the servers of an owner.
    pub fn spot_of(&self, client: &Client, whose: &Whose) -> Option<Spot> {
        match whose {
            Whose::Person => self.spot(client, Scope::User),
            Whose::Project(folder) => {
                let file = client.project.as_ref()?;
                Some(Spot::of(self.places.below(PathBuf::from(folder), file)))
            }
            Whose::PersonIn(folder) => {
                let within = vec![client.projects.clone()?, folder.clone()];
                Some(Spot { within, ..self.spot(client, Scope::User)? })
            }
        }
    }

    /// All owners of servers in an editor's files: the user, the user in single projects, and the
    /// project in the current folder.
    pub fn owners(&self, client: &Client) -> Vec<Whose> {
        let own = self.spot(client, Scope::User);
        let projects = client.projects.as_ref().zip(own.as_ref());
        let projects = projects.and_then(|(name, own)| {
            let tree = open_at(client, own).ok()?.tree;
            let folders = tree.get(name)?.as_map()?.iter();
            let has_servers = |project: &Tree| project.at(&client.servers.path).is_some();
            let folders = folders.filter(|(_, project)| has_servers(project));
            Some(folders.map(|(folder, _)| Whose::PersonIn(folder.clone())).collect::<Vec<_>>())
        });
        let here = Whose::Project(self.places.project.display().to_string());
        // In the home folder, the project's file can be the user's file.
        let shared = self.spot_of(client, &here).filter(|spot| own.as_ref() != Some(spot));
        let mut owners = vec![Whose::Person];
        owners.extend(projects.unwrap_or_default());
        owners.extend(shared.map(|_| here));
        owners
    }
}
