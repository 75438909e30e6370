//! Redirects editors' entries to the upstreams that they became, and restores them.
//!
//! An editor with Evermoor's combined entry reaches every upstream through it, so its imported
//! entries are removed: with them it would see each tool twice. An editor without that entry keeps
//! its imported entries under their names, each redirected to its own upstream.

use std::path::{Path, PathBuf};

use evermoor_core::failure::{Code, Failure};
use evermoor_core::import::{Plan, Whose};
use evermoor_platform::fs::{private, replace};
use evermoor_platform::paths::Paths;
use evermoor_setup::entry::desired;
use evermoor_setup::format::Change;
use evermoor_setup::table::Language;
use evermoor_setup::{Client, Desk, Done, Door, Gate, Refused, Spot, Transport, Wish, client};

use super::record::{Journal, RedirectedFile};

/// What was done to one editor's file, or why it was not changed.
pub struct Told {
    pub title: String,
    pub path: Option<PathBuf>,
    /// The backup of the file.
    pub backup: Option<PathBuf>,
    pub trouble: Option<Refused>,
    /// How to make the editor notice the change.
    pub hint: String,
}

/// Returns the address and token for an editor's entries.
pub type MakeGate<'a> = &'a mut dyn FnMut(&'static Client) -> Result<Gate, Failure>;

/// The folder of file copies, in the data folder.
const COPY_FOLDER: &str = "import";

/// The imported entries of one editor in one file.
pub struct Entries {
    pub client: &'static Client,
    whose: Whose,
    pub spot: Spot,
    /// One per entry, from its name to its upstream.
    doors: Vec<Door>,
    upstreams: Vec<String>,
    secrets: Vec<String>,
}

/// The entries to redirect, by editor and file.
pub fn entries(desk: &Desk, plan: &Plan) -> Vec<Entries> {
    let mut editors: Vec<Entries> = Vec::new();
    for adopted in &plan.adopted {
        for origin in &adopted.from {
            let Some(client) = client(&origin.editor) else { continue };
            let Some(spot) = desk.spot_of(client, &origin.whose) else { continue };
            let door = Door { name: origin.name.clone(), upstream: Some(adopted.name.clone()) };
            let is_it = |known: &Entries| known.client.id == client.id && known.spot == spot;
            let index = editors.iter().position(is_it).unwrap_or_else(|| {
                let (doors, upstreams, secrets) = (Vec::new(), Vec::new(), Vec::new());
                let (whose, spot) = (origin.whose.clone(), spot.clone());
                editors.push(Entries { client, whose, spot, doors, upstreams, secrets });
                editors.len() - 1
            });
            let entries = &mut editors[index];
            entries.doors.push(door);
            entries.upstreams.push(adopted.name.clone());
            entries.secrets.extend(adopted.secrets.iter().map(|(name, _)| name.clone()));
        }
    }
    editors
}

impl Entries {
    /// What the editor's file should contain. With `one`, Evermoor's combined entry replaces all of
    /// them, and is added if it is missing.
    pub fn wish(&self, desk: &Desk, one: bool) -> Wish {
        let known = self.known(desk);
        let transport = self.transport();
        let names: Vec<String> = self.doors.iter().map(|door| door.name.clone()).collect();
        let others = known.iter().filter(|door| !names.contains(&door.name)).cloned();
        let all = Door::to_all();
        let mut doors: Vec<Door> = others.collect();
        let has_one = doors.contains(&all);
        if !one && !has_one {
            doors.extend(self.doors.iter().cloned());
            return Wish { doors, transport, take_over: true, drop: Vec::new() };
        }
        if !has_one {
            doors.insert(0, all);
        }
        Wish { doors, transport, take_over: false, drop: names }
    }

    /// Evermoor's entries that the file already has.
    fn known(&self, desk: &Desk) -> Vec<Door> {
        let record = desk.journal.record(&self.client.id, &self.spot);
        record.map(|record| record.doors).unwrap_or_default()
    }

    /// Project files are shared with others, so they get no token.
    fn transport(&self) -> Transport {
        match self.whose {
            Whose::Person | Whose::PersonIn(_) => desired::usual(self.client),
            Whose::Project(_) => Transport::Stdio,
        }
    }
}

/// Redirects the entries of every editor.
pub fn all(
    paths: &Paths,
    desk: &Desk,
    plan: &Plan,
    one: bool,
    gate: MakeGate<'_>,
    journal: &mut Journal,
) -> Result<Vec<Told>, Failure> {
    let mut reports = Vec::new();
    for entries in entries(desk, plan) {
        let client = entries.client;
        let done = editor(paths, desk, &entries, one, &gate(client)?, journal)?;
        let (title, hint) = (client.title.clone(), client.notices.clone());
        reports.push(match done {
            Ok(done) => {
                let (path, backup) = (Some(done.path), done.backup);
                Told { title, path, backup, trouble: None, hint }
            }
            Err(refused) => Told { title, path: None, backup: None, trouble: Some(refused), hint },
        });
    }
    Ok(reports)
}

fn editor(
    paths: &Paths,
    desk: &Desk,
    entries: &Entries,
    one: bool,
    gate: &Gate,
    journal: &mut Journal,
) -> Result<Result<Done, Refused>, Failure> {
    let (client, known) = (entries.client, entries.known(desk));
    let wish = entries.wish(desk, one);
    let plan = match desk.plan_at(client, &entries.spot, &wish, gate) {
        Ok(plan) => plan,
        Err(refused) => return Ok(Err(refused)),
    };
    let Some(before) = plan.before.as_ref().filter(|_| plan.changes()) else {
        return Ok(desk.apply(&plan));
    };
    // Recorded first, so that it can be undone even if this is interrupted.
    let copy = save_copy(paths, before)?;
    let file = RedirectedFile {
        client: client.id.clone(),
        spot: entries.spot.clone(),
        copy: copy.clone(),
        names: entries.doors.iter().map(|door| door.name.clone()).collect(),
        doors: known,
        over_stdio: wish.transport == Transport::Stdio,
        upstreams: entries.upstreams.clone(),
        secrets: entries.secrets.clone(),
    };
    journal.note(|record| record.editors.push(file))?;
    let done = desk.apply(&plan);
    if done.is_err() {
        journal.note(|record| drop(record.editors.pop()))?;
        remove_copy(&copy);
    }
    Ok(done)
}

/// Keeps a copy of a file until the import is undone.
fn save_copy(paths: &Paths, content: &[u8]) -> Result<PathBuf, Failure> {
    let folder = paths.data.join(COPY_FOLDER);
    let named = |number: u32| folder.join(format!("{number}.before"));
    let free = (1..).map(named).find(|copy| !copy.exists()).unwrap_or_else(|| named(0));
    private::write_private(&free, content).map_err(|error| {
        let what = format!("Cannot write {}: {error}.", free.display());
        Failure::new(Code::Internal, what, "Free some disk space or correct its permissions.")
    })?;
    Ok(free)
}

/// Removes a copy.
pub(super) fn remove_copy(copy: &Path) {
    // Older versions kept it among the backups of `evermoor setup`, which stay.
    if let Some(folder) = copy.parent().filter(|folder| folder.ends_with(COPY_FOLDER)) {
        // Anything left over is removed with the data folder.
        let _ = std::fs::remove_file(copy);
        let _ = std::fs::remove_dir(folder);
    }
}

/// Restores the entries of an editor.
pub(super) fn restore(
    desk: &Desk,
    file: &RedirectedFile,
    gate: MakeGate<'_>,
) -> Result<(), Failure> {
    let Some(client) = client(&file.client) else { return Ok(()) };
    let (spot, path) = (&file.spot, &file.spot.path);
    let failed = |refused: Refused| {
        Failure::new(Code::Configuration, format!("{refused}."), "Correct this and try again.")
    };
    let before = replace::content(&file.copy).ok().flatten();
    let unchanged = is_unchanged(desk, client, file);
    if file.doors.is_empty() {
        match desk.undo_at(client, spot) {
            Ok(_) | Err(Refused::NotConnected { .. }) => {}
            Err(refused) => return Err(failed(refused)),
        }
    } else {
        let gate = gate(client)?;
        let doors = file.doors.clone();
        let transport = if file.over_stdio { Transport::Stdio } else { desired::usual(client) };
        let wish = Wish { doors, transport, take_over: true, drop: Vec::new() };
        let plan = desk.plan_at(client, spot, &wish, &gate).map_err(failed)?;
        desk.apply(&plan).map_err(failed)?;
    }
    let Some(before) = before else { return Ok(()) };
    let now = replace::content(path).map_err(|error| failed(error.into()))?;
    let wanted = match unchanged {
        true => Some(before),
        false => with_entries_of(client, spot, now.as_deref(), &before, &file.names),
    };
    match wanted {
        Some(wanted) if now.as_deref() != Some(&wanted) => {
            replace::replace(path, now.as_deref(), Some(&wanted))
                .map_err(|error| failed(error.into()))
        }
        Some(_) | None => Ok(()),
    }
}

fn is_unchanged(desk: &Desk, client: &Client, file: &RedirectedFile) -> bool {
    let record = desk.journal.record(&client.id, &file.spot);
    let content = replace::content(&file.spot.path).ok().flatten();
    match (record, content) {
        (Some(record), Some(content)) => {
            record.written == evermoor_setup::journal::checksum(&content)
        }
        (None, _) | (_, None) => false,
    }
}

/// The current file, with these entries as they were before.
fn with_entries_of(
    client: &Client,
    spot: &Spot,
    now: Option<&[u8]>,
    before: &[u8],
    names: &[String],
) -> Option<Vec<u8>> {
    let Language::Of(format) = client.language else { return None };
    let (now, before) = (std::str::from_utf8(now?).ok()?, std::str::from_utf8(before).ok()?);
    let (tree, servers) = (format.read(before).ok()?, spot.servers(client));
    let put = |name: &String| {
        let entry = servers.entry(&tree, name)?;
        Some(Change::Put(name.clone(), entry.clone()))
    };
    let changes: Vec<Change> = names.iter().filter_map(put).collect();
    format.edit(now, &servers, &changes, false).ok().map(String::into_bytes)
}
