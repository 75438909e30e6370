//! Sets up editors through their own command line program, because they rewrite their file often.
//!
//! Only entries without a secret are added this way: other users can read the arguments of a process.

use std::path::PathBuf;

use crate::entry::desired::{EditorTransport, GatewayAccess, GatewayEntry, desired_entry};
use crate::format::Format;
use crate::journal::{JournalRecord, OriginalFile};
use crate::table::EditorSpec;
use crate::user_editors::{SetupError, SetupScope, UserEditors};

/// A program to run once per argument list. Only the last run must succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorCommand {
    pub program: PathBuf,
    pub lines: Vec<Vec<String>>,
}

impl UserEditors {
    /// The path of the editor's own program, if it is installed.
    pub fn editor_program(&self, client: &EditorSpec) -> Option<PathBuf> {
        client.command.as_ref().and_then(|name| self.folders.program(name))
    }

    /// How to run the editor's program to add the entries.
    pub fn command(
        &self,
        client: &EditorSpec,
        gateway_entries: &[GatewayEntry],
        access: &GatewayAccess,
    ) -> Option<EditorCommand> {
        let program = self.editor_program(client)?;
        let add = |gateway_entry: &GatewayEntry| {
            let json = Format::json_line(&desired_entry(
                client,
                gateway_entry,
                EditorTransport::Stdio,
                access,
            ));
            [
                remove_line(&gateway_entry.name),
                arguments(&["mcp", "add-json", "-s", "user", &gateway_entry.name, &json]),
            ]
        };
        Some(EditorCommand { program, lines: gateway_entries.iter().flat_map(add).collect() })
    }

    /// How to run the editor's program to remove them again.
    pub fn undo_command(&self, client: &EditorSpec) -> Option<EditorCommand> {
        let (program, location) =
            (self.editor_program(client)?, self.location(client, SetupScope::User)?);
        let record = self.journal.record(&client.id, &location)?;
        let lines = record.names().iter().map(|name| remove_line(name)).collect();
        (record.before == OriginalFile::Command).then_some(EditorCommand { program, lines })
    }

    /// Records that the editor's program added the entries.
    pub fn record_command(
        &self,
        client: &EditorSpec,
        gateway_entries: &[GatewayEntry],
    ) -> Result<(), SetupError> {
        let Some(location) = self.location(client, SetupScope::User) else {
            return Ok(());
        };
        let record = JournalRecord {
            client: client.id.clone(),
            location,
            gateway_entries: gateway_entries.to_vec(),
            earlier: Vec::new(),
            before: OriginalFile::Command,
            written: String::new(),
            made_place: false,
            made_folders: Vec::new(),
        };
        self.journal.put(record).map_err(SetupError::Journal)
    }

    /// Removes that record.
    pub fn forget_command(&self, client: &EditorSpec) -> Result<(), SetupError> {
        let Some(location) = self.location(client, SetupScope::User) else {
            return Ok(());
        };
        self.journal.forget(&client.id, &location).map_err(SetupError::Journal)
    }
}

fn remove_line(name: &str) -> Vec<String> {
    arguments(&["mcp", "remove", "-s", "user", name])
}

fn arguments(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
