//! Connects one editor, or shows what connecting it would change.

use evermoor_core::api::Connection;
use evermoor_core::failure::{Code, Failure};
use evermoor_gateway::editors::setup::told;
use evermoor_setup::editors::command::Command;
use evermoor_setup::entry::desired::{entry, link, snippet, usual};
use evermoor_setup::{Client, Desk, Door, Gate, Kind, Plan, Scope, Transport, Wish};

use super::access::{EditorAccess, NO_TOKEN};
use super::args::SetupArgs;
use crate::runtime::run_async;

/// One run of `evermoor setup`.
pub(super) struct SetupRun<'a> {
    pub(super) desk: &'a Desk,
    pub(super) access: &'a EditorAccess,
    pub(super) args: &'a SetupArgs,
}

/// The outcome for one editor.
pub(crate) struct EditorOutcome {
    pub(crate) client: &'static Client,
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
    pub(super) fn on(&self, client: &'static Client) -> EditorOutcome {
        let what = match self.args {
            SetupArgs { print: true, .. } => self.paste(client),
            _ if self.desk.path(client, self.scope()).is_none() && client.paste.is_none() => {
                let what = format!("{} has no project configuration.", client.title);
                Err(Failure::new(Code::NotFound, what, "Run it without `--scope project`."))
            }
            SetupArgs { all: true, .. } if client.paste.is_some() => Ok(OutcomeKind::ByHand),
            _ if client.paste.is_some() => self.paste(client),
            SetupArgs { dry_run: true, .. } => self.would(client),
            _ => self.connect(client),
        };
        let path = self.desk.path(client, self.scope()).map(|path| path.display().to_string());
        let what = what.unwrap_or_else(|why| self.failed(client, why));
        EditorOutcome { client, path, what }
    }

    fn scope(&self) -> Scope {
        self.args.scope.map_or(Scope::User, Scope::from)
    }

    fn doors(&self) -> Vec<Door> {
        match self.args.upstream.as_slice() {
            [] => vec![Door::to_all()],
            upstreams => upstreams.iter().map(|upstream| Door::to(upstream)).collect(),
        }
    }

    /// The transport that the user chose, else that of the existing entry, else what suits the
    /// editor. A project's configuration is shared with others, so it uses stdio and gets no token.
    fn transport(&self, client: &Client) -> Transport {
        if let Some(transport) = self.args.transport {
            return transport.into();
        }
        let entries = self.desk.existing(client, self.scope()).unwrap_or_default();
        let doors = self.doors();
        let ours = entries.iter().find(|entry| doors.iter().any(|door| door.name == entry.name));
        let over_stdio = ours.is_some_and(|entry| matches!(entry.kind, Kind::Stdio { .. }));
        match self.scope() {
            Scope::User if !over_stdio => usual(client),
            Scope::User | Scope::Project => Transport::Stdio,
        }
    }

    fn plan(&self, client: &'static Client, gate: &Gate) -> Result<Plan, Failure> {
        let wish = Wish {
            doors: self.doors(),
            transport: self.transport(client),
            take_over: false,
            drop: Vec::new(),
        };
        self.desk.plan(client, self.scope(), &wish, gate).map_err(|refused| told(&refused))
    }

    /// The editor's own command for adding a server, unless the user chose a scope or transport.
    fn command(&self, client: &Client, gate: &Gate) -> Option<Command> {
        let usual = self.scope() == Scope::User && self.args.transport.is_none();
        usual.then(|| self.desk.command(client, &self.doors(), gate)).flatten()
    }

    fn is_connected(&self, client: &Client, gate: &Gate) -> bool {
        let spot = self.desk.spot(client, self.scope());
        let record = spot.and_then(|spot| self.desk.journal.record(&client.id, &spot));
        let known = record.map_or_else(|| vec![Door::to_all()], |record| record.doors);
        known == self.doors()
            && self.desk.drift(client, self.scope(), gate) == Connection::Connected
    }

    fn connect(&self, client: &'static Client) -> Result<OutcomeKind, Failure> {
        let before = self.access.of(client);
        // If the file cannot be changed, fail before a token is created or an entry replaced.
        self.plan(client, &before)?;
        if let Some(command) = self.command(client, &before) {
            if self.is_connected(client, &before) {
                return Ok(OutcomeKind::Already);
            }
            self.access.with_token_for(client)?;
            run_command(client, &command)?;
            self.desk.commanded(client, &self.doors()).map_err(|refused| told(&refused))?;
            return Ok(OutcomeKind::Connected { backup: None, by_command: true });
        }
        let plan = self.plan(client, &self.access.with_token_for(client)?)?;
        let done = self.desk.apply(&plan).map_err(|refused| told(&refused))?;
        let backup = done.backup.map(|path| path.display().to_string());
        Ok(if done.changed {
            OutcomeKind::Connected { backup, by_command: false }
        } else {
            OutcomeKind::Already
        })
    }

    fn would(&self, client: &'static Client) -> Result<OutcomeKind, Failure> {
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

    fn paste(&self, client: &'static Client) -> Result<OutcomeKind, Failure> {
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

    fn snippet(&self, client: &Client, gate: &Gate) -> String {
        let transport = self.args.transport.map_or_else(|| usual(client), Transport::from);
        let entries: Vec<_> = self
            .doors()
            .into_iter()
            .map(|door| (door.name.clone(), entry(client, &door, transport, gate)))
            .collect();
        snippet(client, &entries)
    }

    fn link(&self, client: &Client, gate: &Gate) -> Option<String> {
        self.doors().first().and_then(|door| link(client, door, gate))
    }

    /// A failure, with an entry to paste that contains no token.
    fn failed(&self, client: &Client, why: Failure) -> OutcomeKind {
        let gate = Gate { token: NO_TOKEN.to_owned(), ..self.access.of(client) };
        OutcomeKind::Failed {
            why,
            snippet: Some(self.snippet(client, &gate)),
            link: self.link(client, &gate),
        }
    }
}

/// Runs the editor's own command.
pub(super) fn run_command(client: &Client, command: &Command) -> Result<(), Failure> {
    let result = run_async(evermoor_gateway::editors::setup::tell(client, command));
    let broken = |error| Failure::new(Code::Internal, format!("{error}."), "Try again.");
    result.map_err(broken)?
}
