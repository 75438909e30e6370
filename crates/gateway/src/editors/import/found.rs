//! Finds the servers in editors' files: the user's, and those of projects.

use std::path::Path;

use evermoor_core::config::edit::Way;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::import::{Existing, Origin, Skipped, Whose};
use evermoor_setup::{Client, Desk, Entry, Kind, Refused, client, clients, did_you_mean};

/// The servers that were found, and the files and entries that were skipped.
pub(super) struct FoundServers {
    pub(super) servers: Vec<Existing>,
    pub(super) skipped: Vec<Skipped>,
}

pub fn every() -> Vec<&'static Client> {
    clients().iter().collect()
}

/// The editor of this name.
pub fn chosen(name: &str) -> Result<&'static Client, Failure> {
    client(name).ok_or_else(|| {
        let remedy = match did_you_mean(name) {
            Some(meant) => format!("Did you mean `{meant}`?"),
            None => "See `evermoor setup` for those on this machine.".to_owned(),
        };
        Failure::new(Code::NotFound, format!("There is no editor `{name}`."), remedy)
    })
}

/// Reads the files of these editors, and with `projects` those of projects too.
pub(super) fn servers(desk: &Desk, editors: &[&'static Client], projects: bool) -> FoundServers {
    let mut found = FoundServers { servers: Vec::new(), skipped: Vec::new() };
    for client in editors {
        let owners = desk.owners(client).into_iter();
        for whose in owners.filter(|whose| projects || *whose == Whose::Person) {
            let origin = Origin { editor: client.id.clone(), whose, name: String::new() };
            let spot = desk.spot_of(client, &origin.whose);
            let nowhere = || Refused::NoFile { title: client.title.clone() };
            let spot = spot.ok_or_else(nowhere);
            match spot.and_then(|spot| desk.existing_at(client, &spot)) {
                Ok(entries) => entries.into_iter().for_each(|entry| found.take(&origin, entry)),
                // It has no such file, which matters only if the user named this editor.
                Err(Refused::NoFile { .. }) if editors.len() > 1 => {}
                Err(refused) => found.skipped.push(Skipped { origin, why: format!("{refused}.") }),
            }
        }
    }
    found
}

impl FoundServers {
    fn take(&mut self, at: &Origin, entry: Entry) {
        let origin = Origin { name: entry.name, ..at.clone() };
        let gone = origin.whose.folder().filter(|folder| !Path::new(folder).is_dir());
        let stays = match gone {
            Some(folder) => Some(format!("Its project folder no longer exists: {folder}.")),
            None => entry.disabled.then(|| "It is disabled in the editor.".to_owned()),
        };
        if let Some(why) = stays {
            return self.skipped.push(Skipped { origin, why });
        }
        let way = match entry.kind {
            Kind::Stdio { command, args, env, folder } => {
                Way::Program { command, args, env: env.into_iter().collect(), cwd: folder }
            }
            Kind::Http { url, headers } | Kind::Sse { url, headers } => {
                Way::Http { url, headers: headers.into_iter().collect() }
            }
        };
        self.servers.push(Existing { origin, way });
    }
}
