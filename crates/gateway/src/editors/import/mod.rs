//! Taking over the MCP servers that editors have already: they become upstreams, and back.
//!
//! # Theory of operation
//! What becomes of which entry is decided in `core::adopt`. A secret goes to the keychain before the
//! configuration refers to it; where that is not possible, its server stays where it is. Then the
//! configuration is written, and at last the entries in the editors' files are led here. What was
//! done is written down step by step, so that it can be undone whenever it ends.
//!
//! The command line and the control API take the same steps. What blocks and what waits are separate
//! ones, because the two run them in different places.

mod found;
mod record;
pub mod redirect;
pub mod undo;

use std::collections::BTreeSet;

use evermoor_core::config::Mistake;
use evermoor_core::config::edit::{Edit, NewUpstream};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::import;
use evermoor_core::import::{Adopted, Plan, Skipped};
use evermoor_platform::fs::replace;
use evermoor_platform::keychain::Keychain;
use evermoor_platform::paths::Paths;
use evermoor_setup::{Client, Desk};

use crate::config::secrets;
pub use found::{chosen, every};
pub use record::{Journal, Pointed, Record};

/// The servers of editors, and what becomes of them.
pub struct Import {
    pub plan: Plan,
    /// The configuration as it is; `None` if there is no file.
    before: Option<String>,
}

impl Import {
    /// Decides what becomes of the servers of these editors, of the person alone or of projects too,
    /// where secrets of these names are kept already. Nothing is changed.
    pub fn of(
        paths: &Paths,
        desk: &Desk,
        editors: &[&'static Client],
        projects: bool,
        kept: Vec<String>,
    ) -> Result<Self, Failure> {
        let found = found::servers(desk, editors, projects);
        let (before, edit) = config(paths)?;
        let kept: BTreeSet<String> = kept.into_iter().collect();
        let mut plan = import::plan(&found.servers, edit.before(), &kept);
        plan.skipped.extend(found.skipped);
        Ok(Self { plan, before })
    }

    /// The configuration as it is, and as it would be.
    pub fn config(&self) -> Result<(&str, String), Failure> {
        let before = self.before.as_deref().unwrap_or_default();
        Ok((before, self.added()?.1))
    }

    /// Puts every secret into the keychain. A server whose secret cannot be kept is not adopted.
    pub async fn keep_secrets(
        &mut self,
        keychain: &Keychain,
        journal: &mut Journal,
    ) -> Result<(), Failure> {
        let mut adopted = Vec::new();
        for one in std::mem::take(&mut self.plan.adopted) {
            let mut refused = None;
            for (name, value) in &one.secrets {
                journal.note(|record| record.secrets.push(name.clone()))?;
                if let Err(error) = keychain.set(name, value.reveal()).await {
                    refused = Some(secrets::unusable(&error, Some(name)));
                    break;
                }
            }
            match refused {
                None => adopted.push(one),
                Some(failure) => {
                    forget_secrets(keychain, &one, journal).await?;
                    let origins = one.from.iter().cloned();
                    let left = origins.map(|origin| Skipped { origin, why: failure.to_string() });
                    self.plan.skipped.extend(left);
                }
            }
        }
        self.plan.adopted = adopted;
        Ok(())
    }

    /// Writes the new upstreams into the configuration.
    pub fn write(&self, paths: &Paths, journal: &mut Journal) -> Result<(), Failure> {
        let (names, after) = self.added()?;
        if names.is_empty() {
            return Ok(());
        }
        let before = self.before.as_deref();
        journal.note(|record| record.wrote(before, &after, names))?;
        replace::replace(&paths.config, before.map(str::as_bytes), Some(after.as_bytes()))
            .map_err(unreplaced)
    }

    /// What is new in the configuration, and its text then.
    fn added(&self) -> Result<(Vec<String>, String), Failure> {
        let text = self.before.as_deref().unwrap_or_default();
        let mut edit = Edit::of(text).map_err(|found| mistake(&found))?;
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

/// The configuration file as it is, and the edit that begins with it.
fn config(paths: &Paths) -> Result<(Option<String>, Edit), Failure> {
    let content = replace::content(&paths.config).map_err(unreplaced)?;
    let text = content.map(|content| String::from_utf8_lossy(&content).into_owned());
    let edit = Edit::of(text.as_deref().unwrap_or_default()).map_err(|found| mistake(&found))?;
    Ok((text, edit))
}

fn unreplaced(error: replace::NotReplaced) -> Failure {
    Failure::new(Code::Configuration, format!("{error}."), "Correct that, and try again.")
}

fn mistake(found: &Mistake) -> Failure {
    let line = found.line.map(|line| format!(" (line {line} of config.toml)")).unwrap_or_default();
    Failure::new(Code::Configuration, format!("{}{line}", found.what), found.remedy.clone())
}

/// Nothing of a server that is not adopted is kept.
async fn forget_secrets(
    keychain: &Keychain,
    adopted: &Adopted,
    journal: &mut Journal,
) -> Result<(), Failure> {
    for (name, _) in &adopted.secrets {
        // Most likely it is the one that could not be kept.
        let _ = keychain.delete(name).await;
    }
    let theirs = |name: &String| adopted.secrets.iter().any(|(known, _)| known == name);
    journal.note(|record| record.secrets.retain(|name| !theirs(name)))
}
