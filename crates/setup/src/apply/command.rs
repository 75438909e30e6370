//! Editors that are set up through their own program, because they write their file all the time.
//!
//! Only entries without a secret go this way: whoever may list processes can read their arguments.

use std::path::PathBuf;

use crate::editors::{Desk, Refused, Scope};
use crate::entry::desired::{Door, Gate, Transport, entry};
use crate::format::Format;
use crate::journal::{Before, Record};
use crate::table::Client;

/// A program to run, some lines after the other. Those before the last may fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub program: PathBuf,
    pub lines: Vec<Vec<String>>,
}

impl Desk {
    /// The editor's own program, if it has one and it is here.
    pub fn own_program(&self, client: &Client) -> Option<PathBuf> {
        client.command.as_ref().and_then(|name| self.places.program(name))
    }

    /// What the editor's own program is to be told.
    pub fn command(&self, client: &Client, doors: &[Door], gate: &Gate) -> Option<Command> {
        let program = self.own_program(client)?;
        let add = |door: &Door| {
            let json = Format::json_line(&entry(client, door, Transport::Stdio, gate));
            [take_out(&door.name), line(&["mcp", "add-json", "-s", "user", &door.name, &json])]
        };
        Some(Command { program, lines: doors.iter().flat_map(add).collect() })
    }

    /// What undoes that.
    pub fn undo_command(&self, client: &Client) -> Option<Command> {
        let (program, spot) = (self.own_program(client)?, self.spot(client, Scope::User)?);
        let record = self.journal.record(&client.id, &spot)?;
        let lines = record.doors.iter().map(|door| take_out(&door.name)).collect();
        (record.before == Before::Command).then_some(Command { program, lines })
    }

    /// Remembers that the editor's own program wrote for us.
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

    /// Forgets that.
    pub fn uncommanded(&self, client: &Client) -> Result<(), Refused> {
        let Some(spot) = self.spot(client, Scope::User) else {
            return Ok(());
        };
        self.journal.forget(&client.id, &spot).map_err(Refused::Journal)
    }
}

fn take_out(name: &str) -> Vec<String> {
    line(&["mcp", "remove", "-s", "user", name])
}

fn line(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
