//! Leading the entries of editors to the upstreams that they became, and back.
//!
//! An editor that has Evermoor's one entry reaches every upstream through it, so that the entries
//! which became upstreams go out: with them it would see each tool twice. An editor without it keeps
//! its entries under the names that they have, each leading to its own upstream.

use std::path::PathBuf;

use evermoor_core::adopt::Plan;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::replace;
use evermoor_setup::format::Change;
use evermoor_setup::table::Language;
use evermoor_setup::{Client, Desk, Door, Gate, Refused, Scope, Wish, client, wish};

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

/// The entries of one editor that became upstreams, as a plan has them.
pub struct Entries {
    pub client: &'static Client,
    /// Under the names that they have, each to its upstream.
    doors: Vec<Door>,
    upstreams: Vec<String>,
    secrets: Vec<String>,
}

/// By editor, what is to be led here.
pub fn entries(plan: &Plan) -> Vec<Entries> {
    let mut editors: Vec<Entries> = Vec::new();
    for adopted in &plan.adopted {
        for (editor, name) in &adopted.from {
            let Some(client) = client(editor) else { continue };
            let door = Door { name: name.clone(), upstream: Some(adopted.name.clone()) };
            let known = editors.iter().position(|known| known.client.id == client.id);
            let place = known.unwrap_or_else(|| {
                let (doors, upstreams, secrets) = (Vec::new(), Vec::new(), Vec::new());
                editors.push(Entries { client, doors, upstreams, secrets });
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
        let transport = wish::usual(self.client);
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
        let path = desk.path(self.client, Scope::User);
        let record = path.and_then(|path| desk.journal.record(&self.client.id, &path));
        record.map(|record| record.doors).unwrap_or_default()
    }
}

/// Leads the entries of every editor here.
pub fn all(
    desk: &Desk,
    plan: &Plan,
    one: bool,
    gate: MakeGate<'_>,
    journal: &mut Journal,
) -> Result<Vec<Told>, Failure> {
    let mut told = Vec::new();
    for entries in entries(plan) {
        let client = entries.client;
        let done = editor(desk, &entries, one, &gate(client)?, journal)?;
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
    desk: &Desk,
    entries: &Entries,
    one: bool,
    gate: &Gate,
    journal: &mut Journal,
) -> Result<Result<evermoor_setup::Done, Refused>, Failure> {
    let (client, known) = (entries.client, entries.known(desk));
    let wish = entries.wish(desk, one);
    let done = desk.plan(client, Scope::User, &wish, gate).and_then(|plan| desk.apply(&plan));
    let done = match done {
        Ok(done) => done,
        Err(refused) => return Ok(Err(refused)),
    };
    if let Some(copy) = done.backup.clone() {
        let pointed = Pointed {
            client: client.id.clone(),
            path: done.path.clone(),
            copy,
            names: entries.doors.iter().map(|door| door.name.clone()).collect(),
            doors: known,
            upstreams: entries.upstreams.clone(),
            secrets: entries.secrets.clone(),
        };
        journal.note(|record| record.editors.push(pointed))?;
    }
    Ok(Ok(done))
}

/// Puts the entries of an editor back as they were.
pub(super) fn back(desk: &Desk, pointed: &Pointed, gate: MakeGate<'_>) -> Result<(), Failure> {
    let Some(client) = client(&pointed.client) else { return Ok(()) };
    let failed = |refused: Refused| {
        Failure::new(Code::Configuration, format!("{refused}."), "Correct that, and try again.")
    };
    let before = replace::content(&pointed.copy).ok().flatten();
    let untouched = is_as_we_left_it(desk, client, pointed);
    if pointed.doors.is_empty() {
        match desk.undo(client, Scope::User) {
            Ok(_) | Err(Refused::NotConnected { .. }) => {}
            Err(refused) => return Err(failed(refused)),
        }
    } else {
        let gate = gate(client)?;
        let (doors, transport) = (pointed.doors.clone(), wish::usual(client));
        let wish = Wish { doors, transport, take_over: true, drop: Vec::new() };
        let plan = desk.plan(client, Scope::User, &wish, &gate).map_err(failed)?;
        desk.apply(&plan).map_err(failed)?;
    }
    let Some(before) = before else { return Ok(()) };
    let now = replace::content(&pointed.path).map_err(|error| failed(error.into()))?;
    let wanted = match untouched {
        true => Some(before),
        false => with_entries_of(client, now.as_deref(), &before, &pointed.names),
    };
    match wanted {
        Some(wanted) if now.as_deref() != Some(&wanted) => {
            replace::replace(&pointed.path, now.as_deref(), Some(&wanted))
                .map_err(|error| failed(error.into()))
        }
        Some(_) | None => Ok(()),
    }
}

fn is_as_we_left_it(desk: &Desk, client: &Client, pointed: &Pointed) -> bool {
    let record = desk.journal.record(&client.id, &pointed.path);
    let content = replace::content(&pointed.path).ok().flatten();
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
    now: Option<&[u8]>,
    before: &[u8],
    names: &[String],
) -> Option<Vec<u8>> {
    let Language::Of(format) = client.language else { return None };
    let (now, before) = (std::str::from_utf8(now?).ok()?, std::str::from_utf8(before).ok()?);
    let tree = format.read(before).ok()?;
    let put = |name: &String| {
        let entry = client.servers.entry(&tree, name)?;
        Some(Change::Put(name.clone(), entry.clone()))
    };
    let changes: Vec<Change> = names.iter().filter_map(put).collect();
    format.edit(now, &client.servers, &changes, false).ok().map(String::into_bytes)
}
