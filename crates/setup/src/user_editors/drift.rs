//! Whether editors still have the entries that Evermoor wrote.

use evermoor_core::api::{DetectedEditor, EditorServerEntry, SetupState};

use crate::entry::ServerEntry;
use crate::entry::desired::{
    EditorTransport, GatewayAccess, GatewayEntry, desired_entry, install_link,
};
use crate::table::{EditorSpec, clients};
use crate::user_editors::plan::points_to_gateway;
use crate::user_editors::{SetupError, SetupScope, UserEditors};

/// A session that is connected to the gateway now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSession {
    /// The editor that the token belongs to.
    pub editor: String,
    /// The name that the client sends in `initialize`.
    pub client: String,
}

impl UserEditors {
    /// Whether an editor is installed: its file, its folder or its program exists.
    pub fn is_installed(&self, client: &EditorSpec) -> bool {
        let file = self.path(client, SetupScope::User).is_some_and(|path| path.exists());
        file || client.signs.iter().any(|sign| self.folders.find(sign).exists())
            || client.programs.iter().any(|program| self.folders.program(program).is_some())
    }

    /// The setup state of an editor.
    pub fn drift(
        &self,
        client: &EditorSpec,
        scope: SetupScope,
        access: &GatewayAccess,
    ) -> SetupState {
        let open = match self.open(client, scope) {
            Ok(open) => open,
            Err(SetupError::NoFile { .. }) => return self.without_entry(client),
            Err(_) => return SetupState::Unreadable,
        };
        if open.tree.as_map().is_none() {
            return SetupState::Unreadable;
        }
        let record = self.location(client, scope);
        let record = record.and_then(|location| self.journal.record(&client.id, &location));
        let known = record.is_some();
        let gateway_entries =
            record.map_or_else(|| vec![GatewayEntry::for_all()], |record| record.gateway_entries);
        let there =
            |gateway_entry: &GatewayEntry| open.servers.entry(&open.tree, &gateway_entry.name);
        if !gateway_entries.iter().any(|gateway_entry| there(gateway_entry).is_some()) {
            // Evermoor wrote an entry and it was removed since.
            return if known { SetupState::Changed } else { self.without_entry(client) };
        }
        let is_good = |gateway_entry: &GatewayEntry| {
            let found = there(gateway_entry)
                .and_then(|tree| ServerEntry::read(client, &gateway_entry.name, tree));
            found.is_some_and(|found| is_as_expected(client, gateway_entry, &found, access))
        };
        if gateway_entries.iter().all(is_good) {
            SetupState::Connected
        } else {
            SetupState::Changed
        }
    }

    fn without_entry(&self, client: &EditorSpec) -> SetupState {
        if self.is_installed(client) { SetupState::NotConnected } else { SetupState::NotInstalled }
    }

    /// Every known editor, as the dashboard and the command line show it.
    pub fn found(
        &self,
        attached: &[LiveSession],
        access: impl Fn(&EditorSpec) -> GatewayAccess,
    ) -> Vec<DetectedEditor> {
        clients().iter().map(|client| self.detect_one(client, attached, &access(client))).collect()
    }

    fn detect_one(
        &self,
        client: &'static EditorSpec,
        attached: &[LiveSession],
        access: &GatewayAccess,
    ) -> DetectedEditor {
        let entries = self.existing(client, SetupScope::User).unwrap_or_default();
        let state = self.drift(client, SetupScope::User, access);
        let shown = |entry: ServerEntry| EditorServerEntry {
            ours: points_to_gateway(&entry, access),
            kind: entry.kind.name().to_owned(),
            name: entry.name,
        };
        DetectedEditor {
            id: client.id.clone(),
            title: client.title.clone(),
            path: self.path(client, SetupScope::User).map(|path| path.display().to_string()),
            state,
            entries: entries.into_iter().map(shown).collect(),
            attached: attached.iter().any(|session| is_session_of(client, session)),
            hint: hint(client, state),
            link: install_link(client, &GatewayEntry::for_all(), access),
        }
    }
}

/// Whether a live session belongs to this editor.
pub fn is_session_of(client: &EditorSpec, session: &LiveSession) -> bool {
    session.editor == client.id || client.is_client(&session.client)
}

/// Either transport is fine: the user chooses.
fn is_as_expected(
    client: &EditorSpec,
    gateway_entry: &GatewayEntry,
    found: &ServerEntry,
    access: &GatewayAccess,
) -> bool {
    let same = |transport| {
        let wanted = desired_entry(client, gateway_entry, transport, access);
        ServerEntry::read(client, &gateway_entry.name, &wanted)
            .is_some_and(|wanted| wanted.kind == found.kind)
    };
    !found.disabled && (same(EditorTransport::Http) || same(EditorTransport::Stdio))
}

/// What the user can do next.
fn hint(client: &EditorSpec, state: SetupState) -> String {
    let id = &client.id;
    match (state, &client.paste) {
        (SetupState::Connected, _) => client.notices.clone(),
        (SetupState::NotConnected, Some(paste)) => {
            format!("{paste} `evermoor setup {id} --print` shows it.")
        }
        (SetupState::NotConnected, None) => format!("Connect it with `evermoor setup {id}`."),
        (SetupState::Changed, _) => {
            format!("Evermoor's entry was changed. Repair it with `evermoor setup {id}`.")
        }
        (SetupState::Unreadable, _) => {
            format!("Its file cannot be read. Run `evermoor setup {id}` to see why.")
        }
        (SetupState::NotInstalled, _) => String::new(),
    }
}
