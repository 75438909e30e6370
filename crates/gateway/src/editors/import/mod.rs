//! Imports the MCP servers that editors already have as upstreams, and undoes that.
//!
//! # Theory of operation
//! `evermoor_core::import` decides what happens to each entry. Secrets go into the keychain before
//! the configuration refers to them; a server whose secret cannot be stored is not imported. Then
//! the configuration is written, and finally the entries in the editors' files are redirected to
//! Evermoor. Each step is recorded in a journal first, so that an import can be undone even if it
//! was interrupted.
//!
//! The command line and the control API use the same steps. Blocking and asynchronous steps are
//! separate, because the two callers run them in different places.
//!
//! - [`found`]: finds the servers in editors' files
//! - [`redirect`]: redirects their entries to Evermoor, and restores them
//! - [`record`]: the journal; [`undo`]: undoes imports

mod found;
mod record;
pub mod redirect;
pub mod undo;

use std::collections::BTreeSet;

use evermoor_core::config::edit::{ConfigEdit, NewUpstream};
use evermoor_core::config::{Config, ConfigError};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::import;
use evermoor_core::import::{ImportPlan, ImportedServer, SkippedServer};
use evermoor_platform::fs::replace;
use evermoor_platform::keychain::{Keychain, KeychainError};
use evermoor_platform::paths::Paths;
use evermoor_setup::{EditorSpec, UserEditors};

use crate::config::programs::Programs;
use crate::config::secrets;
pub use found::{chosen, every};
pub use record::{ImportJournal, ImportRecord, RedirectedFile};

/// A planned import.
pub struct Import {
    pub plan: ImportPlan,
    /// The current configuration; `None` if there is no file.
    before: Option<String>,
}

impl Import {
    /// Plans the import of these editors' servers: the user's, and with `projects` those of projects
    /// too. `kept` are the names of secrets that are already stored. Changes nothing.
    pub fn of(
        paths: &Paths,
        user_editors: &UserEditors,
        editors: &[&'static EditorSpec],
        projects: bool,
        kept: Vec<String>,
    ) -> Result<Self, Failure> {
        let found = found::servers(user_editors, editors, projects);
        let (before, edit) = config(paths)?;
        let kept: BTreeSet<String> = kept.into_iter().collect();
        let mut plan = import::plan(&found.servers, edit.before(), &kept);
        plan.skipped.extend(found.skipped);
        skip_unusable(&mut plan, before.as_deref().unwrap_or_default());
        Ok(Self { plan, before })
    }

    /// The configuration before and after the import.
    pub fn config(&self) -> Result<(&str, String), Failure> {
        let before = self.before.as_deref().unwrap_or_default();
        Ok((before, self.added()?.1))
    }

    /// Stores every secret in the keychain. A server whose secret cannot be stored is skipped.
    pub async fn keep_secrets(
        &mut self,
        keychain: &Keychain,
        journal: &mut ImportJournal,
    ) -> Result<(), Failure> {
        let mut adopted = Vec::new();
        for one in std::mem::take(&mut self.plan.adopted) {
            let mut refused = None;
            for (name, value) in &one.secrets {
                journal.note(|record| record.secrets.push(name.clone()))?;
                if let Err(error) = keychain.set(name, value.reveal()).await {
                    refused = Some(secrets::keychain_failure(&error, Some(name)));
                    break;
                }
            }
            match refused {
                None => adopted.push(one),
                Some(failure) => {
                    forget_secrets(keychain, &one, journal).await?;
                    let origins = one.from.iter().cloned();
                    let left =
                        origins.map(|origin| SkippedServer { origin, why: failure.to_string() });
                    self.plan.skipped.extend(left);
                }
            }
        }
        self.plan.adopted = adopted;
        Ok(())
    }

    /// Skips every server with a secret, because there is no keychain for it.
    pub fn skip_secrets(&mut self, error: &KeychainError) {
        let adopted = std::mem::take(&mut self.plan.adopted).into_iter();
        let (refused, adopted): (Vec<_>, _) = adopted.partition(|one| !one.secrets.is_empty());
        self.plan.adopted = adopted;
        for one in refused {
            let name = one.secrets.first().map(|(name, _)| name.as_str());
            let why = secrets::keychain_failure(error, name).to_string();
            let skip = |origin| SkippedServer { origin, why: why.clone() };
            self.plan.skipped.extend(one.from.into_iter().map(skip));
        }
    }

    /// Writes the new upstreams into the configuration.
    pub fn write(&self, paths: &Paths, journal: &mut ImportJournal) -> Result<(), Failure> {
        let (names, after) = self.added()?;
        if names.is_empty() {
            return Ok(());
        }
        let before = self.before.as_deref();
        let parse = |text: &str| Config::parse(text).map_err(|found| mistake(&found));
        let (old, new) = (parse(before.unwrap_or_default())?, parse(&after)?);
        Programs::new(paths.programs_file()).record(&old, &new).map_err(|error| {
            let what = format!("Cannot record the programs of config.toml: {error}.");
            Failure::new(Code::Internal, what, "Free some disk space and try again.")
        })?;
        journal.note(|record| record.wrote(before, &after, names))?;
        replace::replace(&paths.config, before.map(str::as_bytes), Some(after.as_bytes()))
            .map_err(unreplaced)
    }

    /// The names of the new upstreams, and the text of the configuration with them.
    fn added(&self) -> Result<(Vec<String>, String), Failure> {
        let text = self.before.as_deref().unwrap_or_default();
        let mut edit = ConfigEdit::of(text).map_err(|found| mistake(&found))?;
        let mut names = Vec::new();
        for one in &self.plan.adopted {
            let Some(way) = one.way.clone() else { continue };
            let new = NewUpstream { name: one.name.clone(), title: None, way };
            edit.add_upstream(&new).map_err(|found| mistake(&found))?;
            names.push(one.name.clone());
        }
        let (text, _) = edit.done().map_err(|found| mistake(&found))?;
        Ok((names, text))
    }
}

/// Skips every server that the configuration does not accept, so that the others can be imported.
fn skip_unusable(plan: &mut ImportPlan, text: &str) {
    let mut accepted = Vec::new();
    for one in std::mem::take(&mut plan.adopted) {
        let refused = one.way.clone().and_then(|way| {
            let new = NewUpstream { name: one.name.clone(), title: None, way };
            let edited = ConfigEdit::of(text).and_then(|mut edit| {
                edit.add_upstream(&new)?;
                edit.done()
            });
            edited.err()
        });
        match refused {
            None => accepted.push(one),
            Some(why) => {
                let why = format!("{} {}", why.what, why.remedy);
                let skip = |origin| SkippedServer { origin, why: why.clone() };
                plan.skipped.extend(one.from.into_iter().map(skip));
            }
        }
    }
    plan.adopted = accepted;
}

/// The current configuration file, and an edit of it.
fn config(paths: &Paths) -> Result<(Option<String>, ConfigEdit), Failure> {
    let content = replace::content(&paths.config).map_err(unreplaced)?;
    let text = content.map(|content| String::from_utf8_lossy(&content).into_owned());
    let edit =
        ConfigEdit::of(text.as_deref().unwrap_or_default()).map_err(|found| mistake(&found))?;
    Ok((text, edit))
}

fn unreplaced(error: replace::ReplaceError) -> Failure {
    Failure::new(Code::Configuration, format!("{error}."), "Correct this and try again.")
}

fn mistake(found: &ConfigError) -> Failure {
    let line = found.line.map(|line| format!(" (line {line} of config.toml)")).unwrap_or_default();
    Failure::new(Code::Configuration, format!("{}{line}", found.what), found.remedy.clone())
}

/// Removes the secrets of a server that is not imported.
async fn forget_secrets(
    keychain: &Keychain,
    adopted: &ImportedServer,
    journal: &mut ImportJournal,
) -> Result<(), Failure> {
    for (name, _) in &adopted.secrets {
        // A secret that was never stored cannot be deleted, and that is fine.
        let _ = keychain.delete(name).await;
    }
    let theirs = |name: &String| adopted.secrets.iter().any(|(known, _)| known == name);
    journal.note(|record| record.secrets.retain(|name| !theirs(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::config::edit::ServerSpec;
    use evermoor_core::import::{EntryOrigin, EntryScope};

    fn server(name: &str, url: &str) -> ImportedServer {
        let (editor, whose) = ("cursor".to_owned(), EntryScope::Person);
        ImportedServer {
            name: name.into(),
            way: Some(ServerSpec::Http {
                url: url.into(),
                headers: Default::default(),
                sign_in: None,
            }),
            secrets: Vec::new(),
            from: vec![EntryOrigin { editor, whose, name: name.into() }],
        }
    }

    #[test]
    fn one_bad_entry_does_not_stop_the_import_of_the_others() {
        let adopted = vec![server("bad", "ftp://x"), server("good", "http://127.0.0.1:1/mcp")];
        let mut plan = ImportPlan { adopted, skipped: Vec::new() };
        skip_unusable(&mut plan, "");
        let names: Vec<&str> = plan.adopted.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["good"]);
        assert_eq!(plan.skipped[0].origin.name, "bad");
        assert!(!plan.skipped[0].why.is_empty());
    }
}
