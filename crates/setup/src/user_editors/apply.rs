//! Makes a planned change in an editor's file, undoes it, and replaces tokens.

use std::path::PathBuf;

use evermoor_platform::fs::replace;

use crate::entry::EntryKind;
use crate::entry::desired::{ENTRY_NAME, EditorTransport, GatewayAccess};
use crate::format::EntryChange;
use crate::journal::{JournalRecord, OriginalFile, checksum};
use crate::table::EditorSpec;
use crate::user_editors::location::ConfigLocation;
use crate::user_editors::plan::{DesiredEntries, SetupPlan};
use crate::user_editors::{SetupError, SetupScope, UserEditors, open_at};

/// What was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupChange {
    pub path: PathBuf,
    pub changed: bool,
    pub backup: Option<PathBuf>,
}

impl UserEditors {
    /// Makes a planned change. The copy and the record are written first, so that the change can
    /// always be undone.
    pub fn apply(&self, plan: &SetupPlan) -> Result<SetupChange, SetupError> {
        let (client, path) = (plan.client, &plan.location.path);
        let before = plan.before.as_deref();
        let record = self.journal.record(&client.id, &plan.location);
        if !plan.changes() {
            // The user wrote the entry by hand. From now on it is in the journal.
            if record.is_none_or(|record| record.gateway_entries != plan.gateway_entries) {
                self.note(plan, OriginalFile::Ours, Vec::new())?;
            }
            return Ok(SetupChange { path: path.clone(), changed: false, backup: None });
        }
        let kept = before.map(|content| self.journal.keep(&client.id, path, content)).transpose();
        let kept = kept.map_err(SetupError::Journal)?;
        let as_we_left_it = record
            .filter(|record| before.is_some_and(|content| checksum(content) == record.written));
        let folders = replace::missing_folders(path);
        let (first, made_place, folders) = match (as_we_left_it, &kept) {
            // The original is the file from before the first change.
            (Some(record), _) => (record.before, record.made_place, record.made_folders),
            (None, None) => (OriginalFile::Nothing, plan.made_place, folders),
            (None, Some(copy)) if plan.clean => {
                (OriginalFile::Kept(copy.clone()), plan.made_place, folders)
            }
            (None, Some(_)) => (OriginalFile::Ours, plan.made_place, folders),
        };
        self.note(&SetupPlan { made_place, ..plan.clone() }, first, folders)?;
        replace::replace(path, before, Some(&plan.after))?;
        Ok(SetupChange { path: path.clone(), changed: true, backup: kept })
    }

    fn note(
        &self,
        plan: &SetupPlan,
        before: OriginalFile,
        made_folders: Vec<PathBuf>,
    ) -> Result<(), SetupError> {
        let record = JournalRecord {
            client: plan.client.id.clone(),
            location: plan.location.clone(),
            gateway_entries: plan.gateway_entries.clone(),
            earlier: Vec::new(),
            before,
            written: checksum(&plan.after),
            made_place: plan.made_place,
            made_folders,
        };
        self.journal.put(record).map_err(SetupError::Journal)
    }

    /// Restores an editor's file. If the file changed since, only Evermoor's entries are
    /// removed.
    pub fn undo(&self, client: &EditorSpec, scope: SetupScope) -> Result<SetupChange, SetupError> {
        let no_file = || SetupError::NoFile { title: client.title.clone() };
        self.undo_at(client, &self.location(client, scope).ok_or_else(no_file)?)
    }

    /// The same for any location in the journal, such as that of another project.
    pub fn undo_at(
        &self,
        client: &EditorSpec,
        location: &ConfigLocation,
    ) -> Result<SetupChange, SetupError> {
        let open = open_at(client, location)?;
        let (path, record) = (&location.path, self.journal.record(&client.id, location));
        let names =
            record.as_ref().map_or_else(|| vec![ENTRY_NAME.to_owned()], JournalRecord::names);
        let there = |name: &String| open.servers.entry(&open.tree, name).is_some();
        if record.is_none() && !names.iter().any(there) {
            return Err(SetupError::NotConnected { title: client.title.clone() });
        }
        let untouched = record.as_ref().filter(|record| {
            open.content.as_deref().is_some_and(|content| checksum(content) == record.written)
        });
        let kept = untouched.map(|record| match &record.before {
            OriginalFile::Nothing => Some(None),
            OriginalFile::Kept(copy) => std::fs::read(copy).ok().map(Some),
            OriginalFile::Ours | OriginalFile::Command => None,
        });
        let tidy = record.as_ref().is_some_and(|record| record.made_place);
        let changes: Vec<EntryChange> =
            names.iter().filter(|name| there(name)).cloned().map(EntryChange::Remove).collect();
        let after = match kept.flatten() {
            Some(before) => before,
            None if changes.is_empty() => open.content.clone(),
            None => Some(self.edited(client, &open, &changes, tidy)?),
        };
        let changed = after != open.content;
        if changed {
            replace::replace(path, open.content.as_deref(), after.as_deref())?;
        }
        if after.is_none() {
            let folders = record.map(|record| record.made_folders).unwrap_or_default();
            // A folder that is in use is not empty and stays.
            folders.iter().rev().for_each(|folder| drop(std::fs::remove_dir(folder)));
        }
        self.journal.forget(&client.id, location).map_err(SetupError::Journal)?;
        Ok(SetupChange { path: path.clone(), changed, backup: None })
    }

    /// Writes a new token into the entries that Evermoor wrote. Entries without a token stay.
    pub fn rewrite_token(
        &self,
        client: &'static EditorSpec,
        access: &GatewayAccess,
    ) -> Result<Vec<SetupChange>, SetupError> {
        let mut done = Vec::new();
        let records = self.journal.records().into_iter();
        for record in records.filter(|record| record.client == client.id) {
            let entries = self.existing_at(client, &record.location)?;
            let with_token = entries.iter().any(|entry| {
                let ours = record
                    .gateway_entries
                    .iter()
                    .any(|gateway_entry| gateway_entry.name == entry.name);
                ours && matches!(entry.kind, EntryKind::Http { .. } | EntryKind::Sse { .. })
            });
            if with_token {
                let desired = DesiredEntries {
                    gateway_entries: record.gateway_entries,
                    transport: EditorTransport::Http,
                    take_over: true,
                    drop: Vec::new(),
                };
                done.push(self.apply(&self.plan_at(
                    client,
                    &record.location,
                    &desired,
                    access,
                )?)?);
            }
        }
        Ok(done)
    }
}
