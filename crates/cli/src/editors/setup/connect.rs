//! Connects one editor, or shows what connecting it would change.

use evermoor_core::api::SetupState;
use evermoor_core::failure::{Code, Failure};
use evermoor_gateway::editors::setup::{ask, check_location, setup_failure};
use evermoor_setup::entry::desired::{desired_entry, install_link, snippet};
use evermoor_setup::table::self_check::SelfCheckResult;
use evermoor_setup::user_editors::command::EditorCommand;
use evermoor_setup::{
    DesiredEntries, EditorSpec, EditorTransport, GatewayAccess, GatewayEntry, SetupPlan,
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
    /// What the editor says about its entries, if it was asked.
    pub(crate) says: Option<EditorAnswer>,
    /// It reaches the gateway over HTTP.
    pub(crate) over_http: bool,
}

/// What an editor says about an entry.
pub(crate) struct EditorAnswer {
    /// The command that asks it.
    pub(crate) command: String,
    pub(crate) result: SelfCheckResult,
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

impl EditorOutcome {
    pub(super) fn of(client: &'static EditorSpec, path: Option<String>, what: OutcomeKind) -> Self {
        Self { client, path, what, says: None, over_http: false }
    }

    /// The editor says that it cannot use what it was given.
    pub(super) fn is_unusable(&self) -> bool {
        self.says.as_ref().is_some_and(|says| says.result == SelfCheckResult::Fails)
    }
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
        let says = self.ask(client, &what);
        let connected = matches!(what, OutcomeKind::Connected { .. } | OutcomeKind::Already);
        let over_http = connected && self.transport(client) == EditorTransport::Http;
        EditorOutcome { client, path, what, says, over_http }
    }

    /// Asks an editor that was connected whether it can use its entries. Without a gateway, it could
    /// not.
    fn ask(&self, client: &EditorSpec, what: &OutcomeKind) -> Option<EditorAnswer> {
        let connected = matches!(what, OutcomeKind::Connected { .. } | OutcomeKind::Already);
        if !connected || self.scope() != SetupScope::User || !self.access.gateway_runs() {
            return None;
        }
        let check = client.check.as_ref()?;
        let programs = client.programs.iter();
        let (name, program) = programs
            .filter_map(|name| Some((name, self.user_editors.folders.program(name)?)))
            .next()?;
        let answers = self.gateway_entries().into_iter().map(|entry| {
            let asking = ask(self.access.paths(), &program, check, &entry.name);
            let command = format!("{name} {}", check.arguments(&entry.name).join(" "));
            let result = run_async(asking).unwrap_or(SelfCheckResult::Unclear);
            EditorAnswer { command, result }
        });
        // The worst answer counts.
        answers.max_by_key(|answer| match answer.result {
            SelfCheckResult::Connects => 0,
            SelfCheckResult::Reads => 1,
            SelfCheckResult::Unclear => 2,
            SelfCheckResult::Fails => 3,
        })
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

    /// The transport that the user chose, else what suits the editor.
    fn transport(&self, client: &EditorSpec) -> EditorTransport {
        let usual = || self.user_editors.transport(client, self.scope(), &self.gateway_entries());
        self.args.transport.map_or_else(usual, EditorTransport::from)
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
        let transport = self.args.transport.map_or(client.transport, EditorTransport::from);
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
