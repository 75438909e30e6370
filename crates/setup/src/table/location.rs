//! Where in which file an editor keeps some of its servers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use evermoor_core::import::Whose;

use crate::editors::{Desk, Scope, open_at};
use crate::format::tree::{Servers, Tree};
use crate::table::Client;

/// A file, and what leads to the servers in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    pub path: PathBuf,
    /// The names before the usual ones, for servers that a person's own file keeps for one project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
}

impl Spot {
    /// The usual place in a file.
    pub fn of(path: PathBuf) -> Self {
        Self { path, within: Vec::new() }
    }

    /// What leads to the servers.
    pub fn servers(&self, client: &Client) -> Servers {
        let way = self.within.iter().chain(&client.servers.way).cloned().collect();
        Servers { way, list: client.servers.list }
    }
}

impl Desk {
    /// Where an editor keeps the servers of a scope.
    pub fn spot(&self, client: &Client, scope: Scope) -> Option<Spot> {
        self.path(client, scope).map(Spot::of)
    }

    /// Where an editor keeps somebody's servers.
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

    /// Everybody whose servers an editor may have: the person, the person in single projects, and the
    /// project of this folder.
    pub fn owners(&self, client: &Client) -> Vec<Whose> {
        let own = self.spot(client, Scope::User);
        let projects = client.projects.as_ref().zip(own.as_ref());
        let projects = projects.and_then(|(name, own)| {
            let tree = open_at(client, own).ok()?.tree;
            let folders = tree.get(name)?.as_map()?.iter();
            let has_servers = |project: &Tree| project.at(&client.servers.way).is_some();
            let folders = folders.filter(|(_, project)| has_servers(project));
            Some(folders.map(|(folder, _)| Whose::PersonIn(folder.clone())).collect::<Vec<_>>())
        });
        let here = Whose::Project(self.places.project.display().to_string());
        // In a home folder, a file below it may be the person's own.
        let shared = self.spot_of(client, &here).filter(|spot| own.as_ref() != Some(spot));
        let mut owners = vec![Whose::Person];
        owners.extend(projects.unwrap_or_default());
        owners.extend(shared.map(|_| here));
        owners
    }
}
