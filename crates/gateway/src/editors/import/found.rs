//! The servers in the files of editors: the person's, and those of projects.

use std::path::Path;

use evermoor_core::config::edit::Way;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::import::{Existing, Origin, Skipped, Whose};
use evermoor_setup::{Client, Desk, Entry, Kind, Refused, client, clients, did_you_mean};

/// What was found, and what was not looked at.
pub(super) struct Found {
    pub(super) servers: Vec<Existing>,
    pub(super) skipped: Vec<Skipped>,
}

/// Every editor that Evermoor knows.
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

/// Reads the files of these editors, those of projects too if that is wanted.
pub(super) fn servers(desk: &Desk, editors: &[&'static Client], projects: bool) -> Found {
    let mut found = Found { servers: Vec::new(), skipped: Vec::new() };
    for client in editors {
        let owners = desk.owners(client).into_iter();
        for whose in owners.filter(|whose| projects || *whose == Whose::Person) {
            let origin = Origin { editor: client.id.clone(), whose, name: String::new() };
            let spot = desk.spot_of(client, &origin.whose);
            let nowhere = || Refused::NoFile { title: client.title.clone() };
            let spot = spot.ok_or_else(nowhere);
            match spot.and_then(|spot| desk.existing_at(client, &spot)) {
                Ok(entries) => entries.into_iter().for_each(|entry| found.take(&origin, entry)),
                // It keeps its servers elsewhere, which matters only to whoever asked for it.
                Err(Refused::NoFile { .. }) if editors.len() > 1 => {}
                Err(refused) => found.skipped.push(Skipped { origin, why: format!("{refused}.") }),
            }
        }
    }
    found
}

impl Found {
    fn take(&mut self, at: &Origin, entry: Entry) {
        let origin = Origin { name: entry.name, ..at.clone() };
        let gone = origin.whose.folder().filter(|folder| !Path::new(folder).is_dir());
        let stays = match gone {
            Some(folder) => Some(format!("The folder of its project is gone: {folder}.")),
            None => entry.disabled.then(|| "It is turned off there.".to_owned()),
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
