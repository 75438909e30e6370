//! Finds the servers in editors' files: the user's, and those of projects.

use std::path::Path;

use evermoor_core::config::edit::ServerSpec;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::import::{EditorServer, EntryOrigin, EntryScope, SkippedServer};
use evermoor_setup::{
    EditorSpec, EntryKind, ServerEntry, SetupError, UserEditors, client, clients, did_you_mean,
};

/// The servers that were found, and the files and entries that were skipped.
pub(super) struct FoundServers {
    pub(super) servers: Vec<EditorServer>,
    pub(super) skipped: Vec<SkippedServer>,
}

pub fn every() -> Vec<&'static EditorSpec> {
    clients().iter().collect()
}

/// The editor of this name.
pub fn chosen(name: &str) -> Result<&'static EditorSpec, Failure> {
    client(name).ok_or_else(|| {
        let remedy = match did_you_mean(name) {
            Some(meant) => format!("Did you mean `{meant}`?"),
            None => "See `evermoor setup` for those on this computer.".to_owned(),
        };
        Failure::new(Code::NotFound, format!("There is no editor `{name}`."), remedy)
    })
}

/// Reads the files of these editors, and with `projects` those of projects too.
pub(super) fn servers(
    user_editors: &UserEditors,
    editors: &[&'static EditorSpec],
    projects: bool,
) -> FoundServers {
    let mut found = FoundServers { servers: Vec::new(), skipped: Vec::new() };
    for client in editors {
        let owners = user_editors.owners(client).into_iter();
        for whose in owners.filter(|whose| projects || *whose == EntryScope::Person) {
            let origin = EntryOrigin { editor: client.id.clone(), whose, name: String::new() };
            let location = user_editors.location_for(client, &origin.whose);
            let nowhere = || SetupError::NoFile { title: client.title.clone() };
            let location = location.ok_or_else(nowhere);
            match location.and_then(|location| user_editors.existing_at(client, &location)) {
                Ok(entries) => entries.into_iter().for_each(|entry| found.take(&origin, entry)),
                // It has no such file, which matters only if the user named this editor.
                Err(SetupError::NoFile { .. }) if editors.len() > 1 => {}
                Err(refused) => {
                    found.skipped.push(SkippedServer { origin, why: format!("{refused}.") })
                }
            }
        }
    }
    found
}

impl FoundServers {
    fn take(&mut self, at: &EntryOrigin, entry: ServerEntry) {
        let origin = EntryOrigin { name: entry.name, ..at.clone() };
        let gone = origin.whose.folder().filter(|folder| !Path::new(folder).is_dir());
        let stays = match gone {
            Some(folder) => Some(format!("Its project folder no longer exists: {folder}.")),
            None => entry.disabled.then(|| "It is disabled in the editor.".to_owned()),
        };
        if let Some(why) = stays {
            return self.skipped.push(SkippedServer { origin, why });
        }
        let way = match entry.kind {
            EntryKind::Stdio { command, args, env, folder } => {
                ServerSpec::Program { command, args, env: env.into_iter().collect(), cwd: folder }
            }
            EntryKind::Http { url, headers } | EntryKind::Sse { url, headers } => {
                let headers = headers.into_iter().collect();
                ServerSpec::Http { url, headers, sign_in: entry.sign_in }
            }
        };
        self.servers.push(EditorServer { origin, way });
    }
}
