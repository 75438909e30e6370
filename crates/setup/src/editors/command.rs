//! Sets up editors through their own command line program, because they rewrite their file often.
//!
//! Only entries without a secret are added this way: other users can read the arguments of a process.

use std::path::PathBuf;

use crate::editors::{Desk, Refused, Scope};
use crate::entry::desired::{Door, Gate, Transport, entry};
use crate::format::Format;
use crate::journal::{Before, Record};
use crate::table::Client;

/// A program to run once per argument list. Only the last run must succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub program: PathBuf,
    pub lines: Vec<Vec<String>>,
}

impl Desk {
    /// The path of the editor's own program, if it is installed.
    pub fn own_program(&self, client: &Client) -> Option<PathBuf> {
        client.command.as_ref().and_then(|name| self.places.program(name))
    }

    /// How to run the editor's program to add the entries.
    pub fn command(&self, client: &Client, doors: &[Door], access: &Gate) -> Option<Command> {
        let program = self.own_program(client)?;
        let add = |door: &Door| {
            let json = Format::json_line(&entry(client, door, Transport::Stdio, access));
            [
                remove_line(&door.name),
                arguments(&["mcp", "add-json", "-s", "user", &door.name, &json]),
            ]
        };
        Some(Command { program, lines: doors.iter().flat_map(add).collect() })
    }

    /// How to run the editor's program to remove them again.
    pub fn undo_command(&self, client: &Client) -> Option<Command> {
        let (program, spot) = (self.own_program(client)?, self.spot(client, Scope::User)?);
        let record = self.journal.record(&client.id, &spot)?;
        let lines = record.doors.iter().map(|door| remove_line(&door.name)).collect();
        (record.before == Before::Command).then_some(Command { program, lines })
    }

    /// Records that the editor's program added the entries.
    pub fn commanded(&self, client: &Client, doors: &[Door]) -> Result<(), Refused> {
        let Some(spot) = self.spot(client, Scope::User) else {
            return Ok(());
        };
        let record = Record {
            client: client.id.clone(),
            spot,
            doors: doors.to_vec(),
            before: Before::Command,
            written: String::new(),
            made_place: false,
            made_folders: Vec::new(),
        };
        self.journal.put(record).map_err(Refused::Journal)
    }

    /// Removes that record.
    pub fn uncommanded(&self, client: &Client) -> Result<(), Refused> {
        let Some(spot) = self.spot(client, Scope::User) else {
            return Ok(());
        };
        self.journal.forget(&client.id, &spot).map_err(Refused::Journal)
    }
}

fn remove_line(name: &str) -> Vec<String> {
    arguments(&["mcp", "remove", "-s", "user", name])
}

fn arguments(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
