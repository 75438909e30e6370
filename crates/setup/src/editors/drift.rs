//! Whether editors still have the entries that Evermoor wrote.

use evermoor_core::api::{Connection, Found, FoundEntry};

use crate::editors::plan::points_to_gateway;
use crate::editors::{Desk, Refused, Scope};
use crate::entry::Entry;
use crate::entry::desired::{Door, Gate, Transport, entry, link};
use crate::table::{Client, clients};

/// A session that is connected to the gateway now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// The editor that the token belongs to.
    pub editor: String,
    /// The name that the client sends in `initialize`.
    pub client: String,
}

impl Desk {
    /// Whether an editor is installed: its file, its folder or its program exists.
    pub fn is_installed(&self, client: &Client) -> bool {
        let file = self.path(client, Scope::User).is_some_and(|path| path.exists());
        file || client.signs.iter().any(|sign| self.places.find(sign).exists())
            || client.programs.iter().any(|program| self.places.program(program).is_some())
    }

    /// The setup state of an editor.
    pub fn drift(&self, client: &Client, scope: Scope, access: &Gate) -> Connection {
        let open = match self.open(client, scope) {
            Ok(open) => open,
            Err(Refused::NoFile { .. }) => return self.without_entry(client),
            Err(_) => return Connection::Unreadable,
        };
        if open.tree.as_map().is_none() {
            return Connection::Unreadable;
        }
        let record = self.spot(client, scope);
        let record = record.and_then(|spot| self.journal.record(&client.id, &spot));
        let known = record.is_some();
        let doors = record.map_or_else(|| vec![Door::to_all()], |record| record.doors);
        let there = |door: &Door| open.servers.entry(&open.tree, &door.name);
        if !doors.iter().any(|door| there(door).is_some()) {
            // Evermoor wrote an entry and somebody removed it.
            return if known { Connection::Changed } else { self.without_entry(client) };
        }
        let is_good = |door: &Door| {
            let found = there(door).and_then(|tree| Entry::read(client, &door.name, tree));
            found.is_some_and(|found| is_as_expected(client, door, &found, access))
        };
        if doors.iter().all(is_good) { Connection::Connected } else { Connection::Changed }
    }

    fn without_entry(&self, client: &Client) -> Connection {
        if self.is_installed(client) { Connection::NotConnected } else { Connection::NotInstalled }
    }

    /// Every known editor, as the dashboard and the command line show it.
    pub fn found(&self, attached: &[Attached], access: impl Fn(&Client) -> Gate) -> Vec<Found> {
        clients().iter().map(|client| self.detect_one(client, attached, &access(client))).collect()
    }

    fn detect_one(&self, client: &'static Client, attached: &[Attached], access: &Gate) -> Found {
        let entries = self.existing(client, Scope::User).unwrap_or_default();
        let state = self.drift(client, Scope::User, access);
        let shown = |entry: Entry| FoundEntry {
            ours: points_to_gateway(&entry, access),
            kind: entry.kind.name().to_owned(),
            name: entry.name,
        };
        Found {
            id: client.id.clone(),
            title: client.title.clone(),
            path: self.path(client, Scope::User).map(|path| path.display().to_string()),
            state,
            entries: entries.into_iter().map(shown).collect(),
            attached: attached.iter().any(|session| is_session_of(client, session)),
            hint: hint(client, state),
            link: link(client, &Door::to_all(), access),
        }
    }
}

/// Whether a live session belongs to this editor.
pub fn is_session_of(client: &Client, session: &Attached) -> bool {
    let named = |name: &String| name.eq_ignore_ascii_case(&session.client);
    session.editor == client.id || client.speaks_as.iter().any(named)
}

/// Either transport is fine: the user chooses.
fn is_as_expected(client: &Client, door: &Door, found: &Entry, access: &Gate) -> bool {
    let same = |transport| {
        let wanted = entry(client, door, transport, access);
        Entry::read(client, &door.name, &wanted).is_some_and(|wanted| wanted.kind == found.kind)
    };
    !found.disabled && (same(Transport::Http) || same(Transport::Stdio))
}

/// What the user can do next.
fn hint(client: &Client, state: Connection) -> String {
    let id = &client.id;
    match (state, &client.paste) {
        (Connection::Connected, _) => client.notices.clone(),
        (Connection::NotConnected, Some(paste)) => {
            format!("{paste} `evermoor setup {id} --print` shows it.")
        }
        (Connection::NotConnected, None) => format!("Connect it with `evermoor setup {id}`."),
        (Connection::Changed, _) => {
            format!("Evermoor's entry was changed. Repair it with `evermoor setup {id}`.")
        }
        (Connection::Unreadable, _) => {
            format!("Its file cannot be read. Run `evermoor setup {id}` to see why.")
        }
        (Connection::NotInstalled, _) => String::new(),
    }
}
