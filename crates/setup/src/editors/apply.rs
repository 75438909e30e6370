//! Makes a planned change in an editor's file, undoes it, and replaces tokens.

use std::path::PathBuf;

use evermoor_platform::fs::replace;

use crate::editors::location::Spot;
use crate::editors::plan::{Plan, Wish};
use crate::editors::{Desk, Refused, Scope, open_at};
use crate::entry::Kind;
use crate::entry::desired::{Gate, NAME, Transport};
use crate::format::Change;
use crate::journal::{Before, Record, checksum};
use crate::table::Client;

/// What was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub path: PathBuf,
    pub changed: bool,
    pub backup: Option<PathBuf>,
}

impl Desk {
    /// Makes a planned change. The copy and the record are written first, so that the change can
    /// always be undone.
    pub fn apply(&self, plan: &Plan) -> Result<Done, Refused> {
        let (client, path) = (plan.client, &plan.spot.path);
        let before = plan.before.as_deref();
        let record = self.journal.record(&client.id, &plan.spot);
        if !plan.changes() {
            // The user wrote the entry by hand. From now on it is in the journal.
            if record.is_none_or(|record| record.doors != plan.doors) {
                self.note(plan, Before::Ours, Vec::new())?;
            }
            return Ok(Done { path: path.clone(), changed: false, backup: None });
        }
        let kept = before.map(|content| self.journal.keep(&client.id, path, content)).transpose();
        let kept = kept.map_err(Refused::Journal)?;
        let as_we_left_it = record
            .filter(|record| before.is_some_and(|content| checksum(content) == record.written));
        let folders = replace::missing_folders(path);
        let (first, made_place, folders) = match (as_we_left_it, &kept) {
            // The original is the file from before the first change.
            (Some(record), _) => (record.before, record.made_place, record.made_folders),
            (None, None) => (Before::Nothing, plan.made_place, folders),
            (None, Some(copy)) if plan.clean => {
                (Before::Kept(copy.clone()), plan.made_place, folders)
            }
            (None, Some(_)) => (Before::Ours, plan.made_place, folders),
        };
        self.note(&Plan { made_place, ..plan.clone() }, first, folders)?;
        replace::replace(path, before, Some(&plan.after))?;
        Ok(Done { path: path.clone(), changed: true, backup: kept })
    }

    fn note(&self, plan: &Plan, before: Before, made_folders: Vec<PathBuf>) -> Result<(), Refused> {
        let record = Record {
            client: plan.client.id.clone(),
            spot: plan.spot.clone(),
            doors: plan.doors.clone(),
            before,
            written: checksum(&plan.after),
            made_place: plan.made_place,
            made_folders,
        };
        self.journal.put(record).map_err(Refused::Journal)
    }

    /// Restores an editor's file. If somebody changed the file since, only Evermoor's entries are
    /// removed.
    pub fn undo(&self, client: &Client, scope: Scope) -> Result<Done, Refused> {
        let no_file = || Refused::NoFile { title: client.title.clone() };
        self.undo_at(client, &self.spot(client, scope).ok_or_else(no_file)?)
    }

    /// The same for any location in the journal, such as that of another project.
    pub fn undo_at(&self, client: &Client, spot: &Spot) -> Result<Done, Refused> {
        let open = open_at(client, spot)?;
        let (path, record) = (&spot.path, self.journal.record(&client.id, spot));
        let names: Vec<String> = match &record {
            Some(record) => record.doors.iter().map(|door| door.name.clone()).collect(),
            None => vec![NAME.to_owned()],
        };
        let there = |name: &String| open.servers.entry(&open.tree, name).is_some();
        if record.is_none() && !names.iter().any(there) {
            return Err(Refused::NotConnected { title: client.title.clone() });
        }
        let untouched = record.as_ref().filter(|record| {
            open.content.as_deref().is_some_and(|content| checksum(content) == record.written)
        });
        let kept = untouched.map(|record| match &record.before {
            Before::Nothing => Some(None),
            Before::Kept(copy) => std::fs::read(copy).ok().map(Some),
            Before::Ours | Before::Command => None,
        });
        let tidy = record.as_ref().is_some_and(|record| record.made_place);
        let changes: Vec<Change> =
            names.iter().filter(|name| there(name)).cloned().map(Change::Remove).collect();
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
        self.journal.forget(&client.id, spot).map_err(Refused::Journal)?;
        Ok(Done { path: path.clone(), changed, backup: None })
    }

    /// Writes a new token into the entries that Evermoor wrote. Entries without a token stay.
    pub fn rewrite_token(
        &self,
        client: &'static Client,
        access: &Gate,
    ) -> Result<Vec<Done>, Refused> {
        let mut done = Vec::new();
        let records = self.journal.records().into_iter();
        for record in records.filter(|record| record.client == client.id) {
            let entries = self.existing_at(client, &record.spot)?;
            let with_token = entries.iter().any(|entry| {
                let ours = record.doors.iter().any(|door| door.name == entry.name);
                ours && matches!(entry.kind, Kind::Http { .. } | Kind::Sse { .. })
            });
            if with_token {
                let wish = Wish {
                    doors: record.doors,
                    transport: Transport::Http,
                    take_over: true,
                    drop: Vec::new(),
                };
                done.push(self.apply(&self.plan_at(client, &record.spot, &wish, access)?)?);
            }
        }
        Ok(done)
    }
}
