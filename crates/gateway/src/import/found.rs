//! The servers in the files of editors.

use evermoor_core::adopt::{Existing, Skipped};
use evermoor_core::config::edit::Way;
use evermoor_core::failure::{Code, Failure};
use evermoor_setup::{Client, Desk, Kind, Refused, Scope, client, clients, did_you_mean};

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

/// Reads the files of these editors.
pub(super) fn servers(desk: &Desk, editors: &[&'static Client]) -> Found {
    let mut found = Found { servers: Vec::new(), skipped: Vec::new() };
    for client in editors {
        let entries = match desk.existing(client, Scope::User) {
            Ok(entries) => entries,
            // It keeps its servers elsewhere, which matters only to whoever asked for it.
            Err(Refused::NoFile { .. }) if editors.len() > 1 => continue,
            Err(refused) => {
                found.skipped.push(Skipped {
                    editor: client.id.clone(),
                    name: String::new(),
                    why: format!("{refused}."),
                });
                continue;
            }
        };
        for entry in entries {
            if entry.disabled {
                let (editor, why) = (client.id.clone(), "It is turned off there.".to_owned());
                found.skipped.push(Skipped { editor, name: entry.name, why });
                continue;
            }
            let way = match entry.kind {
                Kind::Stdio { command, args, env, folder } => {
                    Way::Program { command, args, env: env.into_iter().collect(), cwd: folder }
                }
                Kind::Http { url, headers } | Kind::Sse { url, headers } => {
                    Way::Http { url, headers: headers.into_iter().collect() }
                }
            };
            found.servers.push(Existing { editor: client.id.clone(), name: entry.name, way });
        }
    }
    found
}
