//! Connects one editor, or shows what connecting it would change.

use evermoor_core::api::SetupState;
use evermoor_core::failure::{Code, Failure};
use evermoor_gateway::editors::setup::{check_location, setup_failure};
use evermoor_setup::editors::command::EditorCommand;
use evermoor_setup::entry::desired::{default_transport, desired_entry, install_link, snippet};
use evermoor_setup::{
    DesiredEntries, EditorSpec, EditorTransport, EntryKind, GatewayAccess, GatewayEntry, SetupPlan,
    SetupScope, UserEditors,
};

use super::access::{EditorAccess, NO_TOKEN};
use super::args::SetupArgs;
use crate::runtime::run_async;

/// One run of `evermoor setup`.
pub(super) struct SetupRun<'a> {
    pub(super) user_editors: &'a UserEditors,
    pub(super) access: &'a EditorAccess,
    pub(super) args: &'a SetupArgs,
}

/// The outcome for one editor.
pub(crate) struct EditorOutcome {
    pub(crate) client: &'static EditorSpec,
    pub(crate) path: Option<String>,
    pub(crate) what: OutcomeKind,
}

pub(crate) enum OutcomeKind {
    Connected {
        backup: Option<String>,
        by_command: bool,
    },
    /// It was already connected.
    Already,
    /// The changes, as a diff or as commands.
    Would(String),
    /// What the user pastes.
    Paste {
        snippet: String,
        link: Option<String>,
    },
    /// The user must do it.
    ByHand,
    Undone,
    NothingToUndo,
    Failed {
        why: Failure,
        snippet: Option<String>,
        link: Option<String>,
    },
}

impl SetupRun<'_> {
    pub(super) fn on(&self, client: &'static EditorSpec) -> EditorOutcome {
        let what = match self.args {
            SetupArgs { print: true, .. } => self.paste(client),
            _ if self.user_editors.path(client, self.scope()).is_none()
                && client.paste.is_none() =>
            {
                let what = format!("{} has no project configuration.", client.title);
                Err(Failure::new(Code::NotFound, what, "Run it without `--scope project`."))
            }
            SetupArgs { all: true, .. } if client.paste.is_some() => Ok(OutcomeKind::ByHand),
            _ if client.paste.is_some() => self.paste(client),
            SetupArgs { dry_run: true, .. } => self.would(client),
            _ => self.connect(client),
        };
        let path =
            self.user_editors.path(client, self.scope()).map(|path| path.display().to_string());
        let what = what.unwrap_or_else(|why| self.failed(client, why));
        EditorOutcome { client, path, what }
    }

    fn scope(&self) -> SetupScope {
        self.args.scope.map_or(SetupScope::User, SetupScope::from)
    }

    fn gateway_entries(&self) -> Vec<GatewayEntry> {
        match self.args.upstream.as_slice() {
            [] => vec![GatewayEntry::for_all()],
            upstreams => {
                upstreams.iter().map(|upstream| GatewayEntry::for_upstream(upstream)).collect()
            }
        }
    }

    /// The transport that the user chose, else that of the existing entry, else what suits the
    /// editor. A project's configuration is shared with others, so it uses stdio and gets no token.
    fn transport(&self, client: &EditorSpec) -> EditorTransport {
        if let Some(transport) = self.args.transport {
            return transport.into();
        }
        let entries = self.user_editors.existing(client, self.scope()).unwrap_or_default();
        let gateway_entries = self.gateway_entries();
        let ours = entries.iter().find(|entry| {
            gateway_entries.iter().any(|gateway_entry| gateway_entry.name == entry.name)
        });
        let over_stdio = ours.is_some_and(|entry| matches!(entry.kind, EntryKind::Stdio { .. }));
        match self.scope() {
            SetupScope::User if !over_stdio => default_transport(client),
            SetupScope::User | SetupScope::Project => EditorTransport::Stdio,
        }
    }

    fn plan(
        &self,
        client: &'static EditorSpec,
        gate: &GatewayAccess,
    ) -> Result<SetupPlan, Failure> {
        let desired = DesiredEntries {
            gateway_entries: self.gateway_entries(),
            transport: self.transport(client),
            take_over: false,
            drop: Vec::new(),
        };
        self.user_editors
            .plan(client, self.scope(), &desired, gate)
            .map_err(|refused| setup_failure(&refused))
    }

    /// The editor's own command for adding a server, unless the user chose a scope or transport.
    fn command(&self, client: &EditorSpec, gate: &GatewayAccess) -> Option<EditorCommand> {
        let usual = self.scope() == SetupScope::User && self.args.transport.is_none();
        usual.then(|| self.user_editors.command(client, &self.gateway_entries(), gate)).flatten()
    }

    fn is_connected(&self, client: &EditorSpec, gate: &GatewayAccess) -> bool {
        let location = self.user_editors.location(client, self.scope());
        let record =
            location.and_then(|location| self.user_editors.journal.record(&client.id, &location));
        let known =
            record.map_or_else(|| vec![GatewayEntry::for_all()], |record| record.gateway_entries);
        known == self.gateway_entries()
            && self.user_editors.drift(client, self.scope(), gate) == SetupState::Connected
    }

    fn connect(&self, client: &'static EditorSpec) -> Result<OutcomeKind, Failure> {
        check_location()?;
        let before = self.access.of(client);
        // If the file cannot be changed, fail before a token is created or an entry replaced.
        self.plan(client, &before)?;
        if let Some(command) = self.command(client, &before) {
            if self.is_connected(client, &before) {
                return Ok(OutcomeKind::Already);
            }
            self.access.with_token_for(client)?;
            run_command(client, &command)?;
            self.user_editors
                .record_command(client, &self.gateway_entries())
                .map_err(|refused| setup_failure(&refused))?;
            return Ok(OutcomeKind::Connected { backup: None, by_command: true });
        }
        let plan = self.plan(client, &self.access.with_token_for(client)?)?;
        let done = self.user_editors.apply(&plan).map_err(|refused| setup_failure(&refused))?;
        let backup = done.backup.map(|path| path.display().to_string());
        Ok(if done.changed {
            OutcomeKind::Connected { backup, by_command: false }
        } else {
            OutcomeKind::Already
        })
    }

    fn would(&self, client: &'static EditorSpec) -> Result<OutcomeKind, Failure> {
        let gate = self.access.of(client);
        if let Some(command) = self.command(client, &gate) {
            if self.is_connected(client, &gate) {
                return Ok(OutcomeKind::Already);
            }
            let line = |words: &Vec<String>| {
                format!("{} {}\n", command.program.display(), words.join(" "))
            };
            return Ok(OutcomeKind::Would(command.lines.iter().map(line).collect()));
        }
        let plan = self.plan(client, &gate)?;
        Ok(if plan.changes() { OutcomeKind::Would(plan.diff(&gate)) } else { OutcomeKind::Already })
    }

    fn paste(&self, client: &'static EditorSpec) -> Result<OutcomeKind, Failure> {
        let gate = if self.args.dry_run {
            self.access.of(client)
        } else {
            self.access.with_token_for(client)?
        };
        Ok(OutcomeKind::Paste {
            snippet: self.snippet(client, &gate),
            link: self.link(client, &gate),
        })
    }

    fn snippet(&self, client: &EditorSpec, gate: &GatewayAccess) -> String {
        let transport =
            self.args.transport.map_or_else(|| default_transport(client), EditorTransport::from);
        let entries: Vec<_> = self
            .gateway_entries()
            .into_iter()
            .map(|gateway_entry| {
                (gateway_entry.name.clone(), desired_entry(client, &gateway_entry, transport, gate))
            })
            .collect();
        snippet(client, &entries)
    }

    fn link(&self, client: &EditorSpec, gate: &GatewayAccess) -> Option<String> {
        self.gateway_entries()
            .first()
            .and_then(|gateway_entry| install_link(client, gateway_entry, gate))
    }

    /// A failure, with an entry to paste that contains no token.
    fn failed(&self, client: &EditorSpec, why: Failure) -> OutcomeKind {
        let gate = GatewayAccess { token: NO_TOKEN.to_owned(), ..self.access.of(client) };
        OutcomeKind::Failed {
            why,
            snippet: Some(self.snippet(client, &gate)),
            link: self.link(client, &gate),
        }
    }
}

/// Runs the editor's own command.
pub(super) fn run_command(client: &EditorSpec, command: &EditorCommand) -> Result<(), Failure> {
    let result = run_async(evermoor_gateway::editors::setup::tell(client, command));
    let broken = |error| Failure::new(Code::Internal, format!("{error}."), "Try again.");
    result.map_err(broken)?
}
