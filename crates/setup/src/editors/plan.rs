//! Works out what setting up an editor changes in its file.

use std::path::Path;

use crate::editors::location::Spot;
use crate::editors::{Desk, Open, Refused, Scope, open_at};
use crate::entry::desired::{Door, Gate, NAME, Transport, entry, merged};
use crate::entry::{Entry, Kind};
use crate::format::Change;
use crate::table::Client;

/// The entries that an editor's file should have for Evermoor.
#[derive(Clone, Debug)]
pub struct Wish {
    pub doors: Vec<Door>,
    pub transport: Transport,
    /// Whether an entry of another server may be replaced if it has the same name.
    pub take_over: bool,
    /// Entries of other servers to remove, because they are now reached through Evermoor.
    pub drop: Vec<String>,
}

/// A change that has not been made yet.
#[derive(Clone, Debug)]
pub struct Plan {
    pub client: &'static Client,
    pub spot: Spot,
    pub before: Option<Vec<u8>>,
    pub after: Vec<u8>,
    pub(crate) doors: Vec<Door>,
    /// The file has no entry of Evermoor's yet.
    pub(crate) clean: bool,
    pub(crate) made_place: bool,
}

impl Desk {
    /// Works out what setting up an editor changes.
    pub fn plan(
        &self,
        client: &'static Client,
        scope: Scope,
        wish: &Wish,
        access: &Gate,
    ) -> Result<Plan, Refused> {
        let no_file = || Refused::NoFile { title: client.title.clone() };
        self.plan_at(client, &self.spot(client, scope).ok_or_else(no_file)?, wish, access)
    }

    /// The same for another location than the editor's usual one.
    pub fn plan_at(
        &self,
        client: &'static Client,
        spot: &Spot,
        wish: &Wish,
        access: &Gate,
    ) -> Result<Plan, Refused> {
        let open = open_at(client, spot)?;
        let record = self.journal.record(&client.id, spot);
        let known = record.map(|record| record.doors).unwrap_or_default();
        let mut changes = Vec::new();
        let mut clean = true;
        for door in &wish.doors {
            let ours = entry(client, door, wish.transport, access);
            let Some(there) = open.servers.entry(&open.tree, &door.name) else {
                changes.push(Change::Put(door.name.clone(), ours));
                continue;
            };
            let read = Entry::read(client, &door.name, there);
            let mine = door.name == NAME
                || known.iter().any(|known| known.name == door.name)
                || read.as_ref().is_some_and(|entry| points_to_gateway(entry, access));
            if !mine && !wish.take_over {
                return Err(Refused::Taken { path: spot.path.clone(), name: door.name.clone() });
            }
            clean &= !mine;
            let wanted = merged(there, &ours);
            if *there != wanted {
                changes.push(Change::Put(door.name.clone(), wanted));
            }
        }
        for door in
            known.iter().filter(|known| wish.doors.iter().all(|door| door.name != known.name))
        {
            if open.servers.entry(&open.tree, &door.name).is_some() {
                clean = false;
                changes.push(Change::Remove(door.name.clone()));
            }
        }
        for name in wish.drop.iter().filter(|name| wish.doors.iter().all(|it| it.name != **name)) {
            if open.servers.entry(&open.tree, name).is_some()
                && known.iter().all(|door| door.name != *name)
            {
                changes.push(Change::Remove(name.clone()));
            }
        }
        let made_place = open.tree.at(&open.servers.path).is_none();
        let after = self.edited(client, &open, &changes, false)?;
        Ok(Plan {
            client,
            spot: spot.clone(),
            before: open.content,
            after,
            doors: wish.doors.clone(),
            clean,
            made_place,
        })
    }

    pub(crate) fn edited(
        &self,
        client: &Client,
        open: &Open,
        changes: &[Change],
        tidy: bool,
    ) -> Result<Vec<u8>, Refused> {
        if changes.is_empty() {
            return Ok(open.text.clone().into_bytes());
        }
        let head = client.head.as_ref().filter(|_| open.content.is_none());
        let start = head.map_or_else(|| open.text.clone(), |head| open.format.head(head));
        let edited = open.format.edit(&start, &open.servers, changes, tidy);
        edited
            .map(String::into_bytes)
            .map_err(|why| Refused::Untouchable { path: open.path.clone(), why })
    }
}

impl Plan {
    pub fn changes(&self) -> bool {
        self.before.as_deref() != Some(&self.after)
    }

    /// The change as a unified diff, without the token.
    pub fn diff(&self, access: &Gate) -> String {
        let before = self.before.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let after = String::from_utf8_lossy(&self.after);
        let name = self.spot.path.display().to_string();
        without(&unified(&name, &before, &after), &access.token)
    }
}

/// The unified diff of two texts, with this file name.
pub fn unified(name: &str, before: &str, after: &str) -> String {
    let diff = similar::TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(2).header(name, name).to_string()
}

/// A text with its token replaced by a placeholder.
pub fn without(text: &str, token: &str) -> String {
    if token.is_empty() { text.to_owned() } else { text.replace(token, "<token>") }
}

/// Whether an entry points to the gateway.
pub(crate) fn points_to_gateway(entry: &Entry, access: &Gate) -> bool {
    match &entry.kind {
        Kind::Http { url, .. } | Kind::Sse { url, .. } => {
            url.strip_prefix(&access.origin).is_some_and(|rest| rest.starts_with("/mcp"))
        }
        Kind::Stdio { command, args, .. } => {
            let name = Path::new(command).file_stem().unwrap_or_default();
            name == "evermoor" && args.first().is_some_and(|arg| arg == "connect")
        }
    }
}
