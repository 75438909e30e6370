//! Works out what setting up an editor changes in its file.

use std::path::Path;

use evermoor_core::security::redaction::known::{Redactor, Secret};
use evermoor_core::security::redaction::patterns;

use crate::entry::desired::{
    ENTRY_NAME, EditorTransport, GatewayAccess, GatewayEntry, desired_entry, merged,
};
use crate::entry::{EntryKind, ServerEntry};
use crate::format::EntryChange;
use crate::table::EditorSpec;
use crate::user_editors::location::ConfigLocation;
use crate::user_editors::{OpenFile, SetupError, SetupScope, UserEditors, open_at};

/// The entries that an editor's file should have for Evermoor.
#[derive(Clone, Debug)]
pub struct DesiredEntries {
    pub gateway_entries: Vec<GatewayEntry>,
    pub transport: EditorTransport,
    /// Whether an entry of another server may be replaced if it has the same name.
    pub take_over: bool,
    /// Entries of other servers to remove, because they are now reached through Evermoor.
    pub drop: Vec<String>,
}

/// A change that has not been made yet.
#[derive(Clone, Debug)]
pub struct SetupPlan {
    pub client: &'static EditorSpec,
    pub location: ConfigLocation,
    pub before: Option<Vec<u8>>,
    pub after: Vec<u8>,
    pub(crate) gateway_entries: Vec<GatewayEntry>,
    /// The file has no entry of Evermoor's yet.
    pub(crate) clean: bool,
    pub(crate) made_place: bool,
    /// What other entries of the file may keep secret.
    pub(super) secrets: Redactor,
}

impl UserEditors {
    /// How an editor reaches the gateway unless the user chooses: as in the entries of Evermoor's
    /// that it has, else as suits it. A project's file is shared with others and must not contain a
    /// token, so it uses stdio.
    pub fn transport(
        &self,
        client: &EditorSpec,
        scope: SetupScope,
        gateway_entries: &[GatewayEntry],
    ) -> EditorTransport {
        match (scope, self.location(client, scope)) {
            (SetupScope::Project, _) => EditorTransport::Stdio,
            (SetupScope::User, None) => client.transport,
            (SetupScope::User, Some(location)) => {
                self.transport_at(client, &location, gateway_entries)
            }
        }
    }

    /// The same for another location than the editor's usual one.
    pub fn transport_at(
        &self,
        client: &EditorSpec,
        location: &ConfigLocation,
        gateway_entries: &[GatewayEntry],
    ) -> EditorTransport {
        let there = self.existing_at(client, location).unwrap_or_default();
        let is_ours = |entry: &&ServerEntry| {
            gateway_entries.iter().any(|gateway_entry| gateway_entry.name == entry.name)
        };
        match there.iter().find(is_ours).map(|entry| &entry.kind) {
            Some(EntryKind::Stdio { .. }) => EditorTransport::Stdio,
            Some(EntryKind::Http { .. } | EntryKind::Sse { .. }) => EditorTransport::Http,
            None => client.transport,
        }
    }

    /// Works out what setting up an editor changes.
    pub fn plan(
        &self,
        client: &'static EditorSpec,
        scope: SetupScope,
        desired: &DesiredEntries,
        access: &GatewayAccess,
    ) -> Result<SetupPlan, SetupError> {
        let no_file = || SetupError::NoFile { title: client.title.clone() };
        self.plan_at(client, &self.location(client, scope).ok_or_else(no_file)?, desired, access)
    }

    /// The same for another location than the editor's usual one.
    pub fn plan_at(
        &self,
        client: &'static EditorSpec,
        location: &ConfigLocation,
        desired: &DesiredEntries,
        access: &GatewayAccess,
    ) -> Result<SetupPlan, SetupError> {
        let open = open_at(client, location)?;
        let record = self.journal.record(&client.id, location);
        let known = record.map(|record| record.gateway_entries).unwrap_or_default();
        let mut changes = Vec::new();
        let mut clean = true;
        for gateway_entry in &desired.gateway_entries {
            let ours = desired_entry(client, gateway_entry, desired.transport, access);
            let Some(there) = open.servers.entry(&open.tree, &gateway_entry.name) else {
                changes.push(EntryChange::Put(gateway_entry.name.clone(), ours));
                continue;
            };
            let read = ServerEntry::read(client, &gateway_entry.name, there);
            let mine = gateway_entry.name == ENTRY_NAME
                || known.iter().any(|known| known.name == gateway_entry.name)
                || read.as_ref().is_some_and(|entry| points_to_gateway(entry, access));
            if !mine && !desired.take_over {
                return Err(SetupError::Taken {
                    path: location.path.clone(),
                    name: gateway_entry.name.clone(),
                });
            }
            clean &= !mine;
            let wanted = merged(there, &ours);
            if *there != wanted {
                changes.push(EntryChange::Put(gateway_entry.name.clone(), wanted));
            }
        }
        for gateway_entry in known.iter().filter(|known| {
            desired.gateway_entries.iter().all(|gateway_entry| gateway_entry.name != known.name)
        }) {
            if open.servers.entry(&open.tree, &gateway_entry.name).is_some() {
                clean = false;
                changes.push(EntryChange::Remove(gateway_entry.name.clone()));
            }
        }
        for name in desired
            .drop
            .iter()
            .filter(|name| desired.gateway_entries.iter().all(|it| it.name != **name))
        {
            if open.servers.entry(&open.tree, name).is_some()
                && known.iter().all(|gateway_entry| gateway_entry.name != *name)
            {
                changes.push(EntryChange::Remove(name.clone()));
            }
        }
        let made_place = open.tree.at(&open.servers.path).is_none();
        let after = self.edited(client, &open, &changes, false)?;
        let secrets = secrets(client, &open);
        Ok(SetupPlan {
            client,
            location: location.clone(),
            before: open.content,
            after,
            gateway_entries: desired.gateway_entries.clone(),
            clean,
            made_place,
            secrets,
        })
    }

    pub(crate) fn edited(
        &self,
        client: &EditorSpec,
        open: &OpenFile,
        changes: &[EntryChange],
        tidy: bool,
    ) -> Result<Vec<u8>, SetupError> {
        if changes.is_empty() {
            return Ok(open.text.clone().into_bytes());
        }
        let head = client.head.as_ref().filter(|_| open.content.is_none());
        let start = head.map_or_else(|| open.text.clone(), |head| open.format.head(head));
        let edited = open.format.edit(&start, &open.servers, changes, tidy);
        edited
            .map(String::into_bytes)
            .map_err(|why| SetupError::Untouchable { path: open.path.clone(), why })
    }
}

impl SetupPlan {
    pub fn changes(&self) -> bool {
        self.before.as_deref() != Some(&self.after)
    }

    /// The change as a unified diff, without the token and without the secrets of other servers, which
    /// may be on the same line or next to it.
    pub fn diff(&self, access: &GatewayAccess) -> String {
        let before = self.before.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let after = String::from_utf8_lossy(&self.after);
        let name = self.location.path.display().to_string();
        let diff = without_token(&text_diff(&name, &before, &after), &access.token);
        patterns::scrub(&self.secrets.scrub(&diff)).into_owned()
    }
}

/// What the servers of a file may keep secret: variables, headers, the query of an address, and
/// arguments that say so.
fn secrets(client: &EditorSpec, open: &OpenFile) -> Redactor {
    let mut secrets = Redactor::new();
    let mut hide = |value: &str| {
        // A reference such as `${env:NAME}` is not secret.
        if !value.contains("${") {
            let scheme = ["Bearer ", "Basic ", "bearer ", "basic "];
            let value =
                scheme.iter().find_map(|scheme| value.strip_prefix(scheme)).unwrap_or(value);
            secrets.hide(&Secret::new(value));
        }
    };
    let entries = open.servers.entries(&open.tree).into_iter();
    for entry in entries.filter_map(|(name, tree)| ServerEntry::read(client, &name, tree)) {
        match &entry.kind {
            EntryKind::Stdio { args, env, .. } => {
                env.iter().for_each(|(_, value)| hide(value));
                let named = |pair: &&[String]| {
                    let text = format!("{}={}", pair[0], pair[1]);
                    pair[0].starts_with('-') && patterns::scrub(&text) != text
                };
                args.windows(2).filter(named).for_each(|pair| hide(&pair[1]));
            }
            EntryKind::Http { url, headers } | EntryKind::Sse { url, headers } => {
                headers.iter().for_each(|(_, value)| hide(value));
                if let Some((_, query)) = url.split_once('?') {
                    hide(query);
                }
            }
        }
    }
    secrets
}

/// The unified diff of two texts, with this file name and without anything that looks like a secret.
pub fn unified_diff(name: &str, before: &str, after: &str) -> String {
    patterns::scrub(&text_diff(name, before, after)).into_owned()
}

fn text_diff(name: &str, before: &str, after: &str) -> String {
    let diff = similar::TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(2).header(name, name).to_string()
}

/// A text with its token replaced by a placeholder.
pub fn without_token(text: &str, token: &str) -> String {
    if token.is_empty() { text.to_owned() } else { text.replace(token, "<token>") }
}

/// Whether an entry points to the gateway.
pub(crate) fn points_to_gateway(entry: &ServerEntry, access: &GatewayAccess) -> bool {
    match &entry.kind {
        EntryKind::Http { url, .. } | EntryKind::Sse { url, .. } => {
            url.strip_prefix(&access.origin).is_some_and(|rest| rest.starts_with("/mcp"))
        }
        EntryKind::Stdio { command, args, .. } => {
            let name = Path::new(command).file_stem().unwrap_or_default();
            name == "evermoor" && args.first().is_some_and(|arg| arg == "connect")
        }
    }
}
