//! Leading the entries of editors to the upstreams that they became, and back.
//!
//! An editor that has Evermoor's one entry reaches every upstream through it, so that the entries
//! which became upstreams go out: with them it would see each tool twice. An editor without it keeps
//! its entries under the names that they have, each leading to its own upstream.

use std::path::{Path, PathBuf};

use evermoor_core::failure::{Code, Failure};
use evermoor_core::import::{Plan, Whose};
use evermoor_platform::fs::{private, replace};
use evermoor_platform::paths::Paths;
use evermoor_setup::entry::desired;
use evermoor_setup::format::Change;
use evermoor_setup::table::Language;
use evermoor_setup::{Client, Desk, Done, Door, Gate, Refused, Spot, Transport, Wish, client};

use super::record::{Journal, Pointed};

/// What was done to one editor's file, or why it was not.
pub struct Told {
    pub title: String,
    pub path: Option<PathBuf>,
    /// Where the file is kept as it was.
    pub backup: Option<PathBuf>,
    pub trouble: Option<Refused>,
    /// What it takes for it to notice.
    pub hint: String,
}

/// Where an editor's entry leads to, with a token of its own.
pub type MakeGate<'a> = &'a mut dyn FnMut(&'static Client) -> Result<Gate, Failure>;

/// The folder of files as they were, below the data.
const COPIES: &str = "import";

/// The entries of one editor in one place that became upstreams, as a plan has them.
pub struct Entries {
    pub client: &'static Client,
    whose: Whose,
    pub spot: Spot,
    /// Under the names that they have, each to its upstream.
    doors: Vec<Door>,
    upstreams: Vec<String>,
    secrets: Vec<String>,
}

/// By editor and place, what is to be led here.
pub fn entries(desk: &Desk, plan: &Plan) -> Vec<Entries> {
    let mut editors: Vec<Entries> = Vec::new();
    for adopted in &plan.adopted {
        for origin in &adopted.from {
            let Some(client) = client(&origin.editor) else { continue };
            let Some(spot) = desk.spot_of(client, &origin.whose) else { continue };
            let door = Door { name: origin.name.clone(), upstream: Some(adopted.name.clone()) };
            let is_it = |known: &Entries| known.client.id == client.id && known.spot == spot;
            let place = editors.iter().position(is_it).unwrap_or_else(|| {
                let (doors, upstreams, secrets) = (Vec::new(), Vec::new(), Vec::new());
                let (whose, spot) = (origin.whose.clone(), spot.clone());
                editors.push(Entries { client, whose, spot, doors, upstreams, secrets });
                editors.len() - 1
            });
            let entries = &mut editors[place];
            entries.doors.push(door);
            entries.upstreams.push(adopted.name.clone());
            entries.secrets.extend(adopted.secrets.iter().map(|(name, _)| name.clone()));
        }
    }
    editors
}

impl Entries {
    /// What the editor's file should say. `one`: all of them through Evermoor's one entry, which is
    /// put in if it is not there.
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

    /// Our entries that the file has.
    fn known(&self, desk: &Desk) -> Vec<Door> {
        let record = desk.journal.record(&self.client.id, &self.spot);
        record.map(|record| record.doors).unwrap_or_default()
    }

    /// What is shared with others gets no token.
    fn transport(&self) -> Transport {
        match self.whose {
            Whose::Person | Whose::PersonIn(_) => desired::usual(self.client),
            Whose::Project(_) => Transport::Stdio,
        }
    }
}

/// Leads the entries of every editor here.
pub fn all(
    paths: &Paths,
    desk: &Desk,
    plan: &Plan,
    one: bool,
    gate: MakeGate<'_>,
    journal: &mut Journal,
) -> Result<Vec<Told>, Failure> {
    let mut told = Vec::new();
    for entries in entries(desk, plan) {
        let client = entries.client;
        let done = editor(paths, desk, &entries, one, &gate(client)?, journal)?;
        let (title, hint) = (client.title.clone(), client.notices.clone());
        told.push(match done {
            Ok(done) => {
                let (path, backup) = (Some(done.path), done.backup);
                Told { title, path, backup, trouble: None, hint }
            }
            Err(refused) => Told { title, path: None, backup: None, trouble: Some(refused), hint },
        });
    }
    Ok(told)
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
    // Written down first, so that it can be undone whenever this ends.
    let copy = keep(paths, before)?;
    let pointed = Pointed {
        client: client.id.clone(),
        spot: entries.spot.clone(),
        copy: copy.clone(),
        names: entries.doors.iter().map(|door| door.name.clone()).collect(),
        doors: known,
        over_stdio: wish.transport == Transport::Stdio,
        upstreams: entries.upstreams.clone(),
        secrets: entries.secrets.clone(),
    };
    journal.note(|record| record.editors.push(pointed))?;
    let done = desk.apply(&plan);
    if done.is_err() {
        journal.note(|record| drop(record.editors.pop()))?;
        forget(&copy);
    }
    Ok(done)
}

/// Keeps a file as it was, until the import is undone.
fn keep(paths: &Paths, content: &[u8]) -> Result<PathBuf, Failure> {
    let folder = paths.data.join(COPIES);
    let named = |number: u32| folder.join(format!("{number}.before"));
    let free = (1..).map(named).find(|copy| !copy.exists()).unwrap_or_else(|| named(0));
    private::write_private(&free, content).map_err(|error| {
        let what = format!("{} cannot be written: {error}.", free.display());
        Failure::new(Code::Internal, what, "Make room or correct its permissions.")
    })?;
    Ok(free)
}

/// Forgets a file that was kept.
pub(super) fn forget(copy: &Path) {
    // An older Evermoor kept it among the copies that `evermoor setup` makes.
    if let Some(folder) = copy.parent().filter(|folder| folder.ends_with(COPIES)) {
        // Whatever is left goes with the rest of the data.
        let _ = std::fs::remove_file(copy);
        let _ = std::fs::remove_dir(folder);
    }
}

/// Puts the entries of an editor back as they were.
pub(super) fn back(desk: &Desk, pointed: &Pointed, gate: MakeGate<'_>) -> Result<(), Failure> {
    let Some(client) = client(&pointed.client) else { return Ok(()) };
    let (spot, path) = (&pointed.spot, &pointed.spot.path);
    let failed = |refused: Refused| {
        Failure::new(Code::Configuration, format!("{refused}."), "Correct that, and try again.")
    };
    let before = replace::content(&pointed.copy).ok().flatten();
    let untouched = is_as_we_left_it(desk, client, pointed);
    if pointed.doors.is_empty() {
        match desk.undo_at(client, spot) {
            Ok(_) | Err(Refused::NotConnected { .. }) => {}
            Err(refused) => return Err(failed(refused)),
        }
    } else {
        let gate = gate(client)?;
        let doors = pointed.doors.clone();
        let transport = if pointed.over_stdio { Transport::Stdio } else { desired::usual(client) };
        let wish = Wish { doors, transport, take_over: true, drop: Vec::new() };
        let plan = desk.plan_at(client, spot, &wish, &gate).map_err(failed)?;
        desk.apply(&plan).map_err(failed)?;
    }
    let Some(before) = before else { return Ok(()) };
    let now = replace::content(path).map_err(|error| failed(error.into()))?;
    let wanted = match untouched {
        true => Some(before),
        false => with_entries_of(client, spot, now.as_deref(), &before, &pointed.names),
    };
    match wanted {
        Some(wanted) if now.as_deref() != Some(&wanted) => {
            replace::replace(path, now.as_deref(), Some(&wanted))
                .map_err(|error| failed(error.into()))
        }
        Some(_) | None => Ok(()),
    }
}

fn is_as_we_left_it(desk: &Desk, client: &Client, pointed: &Pointed) -> bool {
    let record = desk.journal.record(&client.id, &pointed.spot);
    let content = replace::content(&pointed.spot.path).ok().flatten();
    match (record, content) {
        (Some(record), Some(content)) => {
            record.written == evermoor_setup::journal::checksum(&content)
        }
        (None, _) | (_, None) => false,
    }
}

/// The file as it is now, with these entries as they were.
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
