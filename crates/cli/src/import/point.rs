//! Pointing the entries of editors at the upstreams that they became, and back.

use std::path::{Path, PathBuf};

use evermoor_core::adopt::{Plan, Whose};
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::{files, replace};
use evermoor_setup::format::Change;
use evermoor_setup::table::Language;
use evermoor_setup::{Client, Desk, Door, Refused, Spot, Transport, Wish, client, wish};

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

/// The folder of files as they were, below the data.
const COPIES: &str = "import";

/// The entries of one editor in one place.
struct Group {
    client: &'static Client,
    whose: Whose,
    spot: Spot,
    doors: Vec<Door>,
}

/// Points the entries of every editor, under the names that they have.
pub(super) fn all(
    place: &Place,
    desk: &Desk,
    plan: &Plan,
    journal: &mut Journal,
) -> Result<Vec<Told>, Failure> {
    let gates = Gates::find(place)?;
    let mut told = Vec::new();
    for group in groups(desk, plan) {
        let done = one(place, desk, &gates, &group, journal)?;
        let trouble = done.as_ref().err().map(|refused| format!("{refused}."));
        let (title, hint) = (group.client.title.clone(), group.client.notices.clone());
        told.push(Told { title, path: done.ok(), trouble, hint });
    }
    Ok(told)
}

fn groups(desk: &Desk, plan: &Plan) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for adopted in &plan.adopted {
        for origin in &adopted.from {
            let Some(client) = client(&origin.editor) else { continue };
            let Some(spot) = desk.spot_of(client, &origin.whose) else { continue };
            let door = Door { name: origin.name.clone(), upstream: Some(adopted.name.clone()) };
            let known = |group: &&mut Group| group.client.id == client.id && group.spot == spot;
            match groups.iter_mut().find(known) {
                Some(group) => group.doors.push(door),
                None => {
                    let (whose, doors) = (origin.whose.clone(), vec![door]);
                    groups.push(Group { client, whose, spot, doors });
                }
            }
        }
    }
    groups
}

/// What is shared with others gets no token.
fn transport(client: &Client, whose: &Whose) -> Transport {
    match whose {
        Whose::Person | Whose::PersonIn(_) => wish::usual(client),
        Whose::Project(_) => Transport::Stdio,
    }
}

fn one(
    place: &Place,
    desk: &Desk,
    gates: &Gates,
    group: &Group,
    journal: &mut Journal,
) -> Result<Result<PathBuf, Refused>, Failure> {
    let (client, spot) = (group.client, &group.spot);
    let gate = gates.made_for(client)?;
    let known = desk.journal.record(&client.id, spot);
    let known = known.map(|record| record.doors).unwrap_or_default();
    let names: Vec<String> = group.doors.iter().map(|door| door.name.clone()).collect();
    let others = known.iter().filter(|door| !names.contains(&door.name)).cloned();
    let doors: Vec<Door> = others.chain(group.doors.iter().cloned()).collect();
    let transport = transport(client, &group.whose);
    let wish = Wish { doors, transport, take_over: true };
    let plan = match desk.plan_at(client, spot, &wish, &gate) {
        Ok(plan) => plan,
        Err(refused) => return Ok(Err(refused)),
    };
    let before = plan.before.as_ref().filter(|_| plan.changes());
    let Some(before) = before else {
        return Ok(desk.apply(&plan).map(|done| done.path));
    };
    // Written down first, so that it can be undone whenever this ends.
    let copy = keep(place, before)?;
    let over_stdio = transport == Transport::Stdio;
    let pointed = Pointed {
        client: client.id.clone(),
        spot: spot.clone(),
        copy: copy.clone(),
        names,
        doors: known,
        over_stdio,
    };
    journal.note(|record| record.editors.push(pointed))?;
    let done = desk.apply(&plan);
    if done.is_err() {
        journal.note(|record| drop(record.editors.pop()))?;
        let _ = std::fs::remove_file(copy);
    }
    Ok(done.map(|done| done.path))
}

/// Keeps a file as it was, until the import is undone.
fn keep(place: &Place, content: &[u8]) -> Result<PathBuf, Failure> {
    let folder = place.paths.data.join(COPIES);
    let named = |number: u32| folder.join(format!("{number}.before"));
    let free = (1..).map(named).find(|copy| !copy.exists()).unwrap_or_else(|| named(0));
    files::write_private(&free, content).map_err(|error| {
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
pub(super) fn back(place: &Place, desk: &Desk, pointed: &Pointed) -> Result<(), Failure> {
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
        let gate = Gates::find(place)?.made_for(client)?;
        let doors = pointed.doors.clone();
        let transport = if pointed.over_stdio { Transport::Stdio } else { wish::usual(client) };
        let wish = Wish { doors, transport, take_over: true };
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
