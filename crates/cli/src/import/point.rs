//! Pointing the entries of editors at the upstreams that they became, and back.

use std::path::PathBuf;

use evermoor_core::adopt::Plan;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::replace;
use evermoor_setup::format::Change;
use evermoor_setup::table::Language;
use evermoor_setup::{Client, Desk, Door, Refused, Scope, Wish, client, wish};

use super::record::{Journal, Pointed};
use crate::serve::Place;
use crate::setup::Gates;

/// What was done to one editor's file, or why it was not.
pub(super) struct Told {
    pub(super) title: String,
    pub(super) path: Option<PathBuf>,
    pub(super) trouble: Option<String>,
    /// What it takes for it to notice.
    pub(super) hint: String,
}

/// Points the entries of every editor, under the names that they have.
pub(super) fn all(
    place: &Place,
    desk: &Desk,
    plan: &Plan,
    journal: &mut Journal,
) -> Result<Vec<Told>, Failure> {
    let gates = Gates::find(place)?;
    let mut editors: Vec<(&'static Client, Vec<Door>)> = Vec::new();
    for adopted in &plan.adopted {
        for (editor, name) in &adopted.from {
            let Some(client) = client(editor) else { continue };
            let door = Door { name: name.clone(), upstream: Some(adopted.name.clone()) };
            match editors.iter_mut().find(|(known, _)| known.id == client.id) {
                Some((_, doors)) => doors.push(door),
                None => editors.push((client, vec![door])),
            }
        }
    }
    let mut told = Vec::new();
    for (client, doors) in editors {
        let done = one(desk, &gates, client, doors, journal)?;
        let trouble = done.as_ref().err().map(|refused| format!("{refused}."));
        let (title, hint) = (client.title.clone(), client.notices.clone());
        told.push(Told { title, path: done.ok(), trouble, hint });
    }
    Ok(told)
}

fn one(
    desk: &Desk,
    gates: &Gates,
    client: &'static Client,
    doors: Vec<Door>,
    journal: &mut Journal,
) -> Result<Result<PathBuf, Refused>, Failure> {
    let gate = gates.made_for(client)?;
    let known = desk.path(client, Scope::User);
    let known = known.and_then(|path| desk.journal.record(&client.id, &path));
    let known = known.map(|record| record.doors).unwrap_or_default();
    let names: Vec<String> = doors.iter().map(|door| door.name.clone()).collect();
    let others = known.iter().filter(|door| !names.contains(&door.name)).cloned();
    let doors: Vec<Door> = others.chain(doors).collect();
    let wish = Wish { doors, transport: wish::usual(client), take_over: true };
    let done = desk.plan(client, Scope::User, &wish, &gate).and_then(|plan| desk.apply(&plan));
    let done = match done {
        Ok(done) => done,
        Err(refused) => return Ok(Err(refused)),
    };
    if let Some(copy) = done.backup {
        let (client, path) = (client.id.clone(), done.path.clone());
        journal.note(|record| {
            record.editors.push(Pointed { client, path, copy, names, doors: known });
        })?;
    }
    Ok(Ok(done.path))
}

/// Puts the entries of an editor back as they were.
pub(super) fn back(place: &Place, desk: &Desk, pointed: &Pointed) -> Result<(), Failure> {
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
        let gate = Gates::find(place)?.made_for(client)?;
        let doors = pointed.doors.clone();
        let wish = Wish { doors, transport: wish::usual(client), take_over: true };
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
