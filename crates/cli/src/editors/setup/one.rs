//! Connecting one editor, or whatever else was asked about it.

use evermoor_core::api::Connection;
use evermoor_core::failure::{Code, Failure};
use evermoor_gateway::editors::setup::told;
use evermoor_setup::editors::command::Command;
use evermoor_setup::entry::desired::{entry, link, snippet, usual};
use evermoor_setup::{Client, Desk, Door, Gate, Kind, Plan, Scope, Transport, Wish};

use super::access::{Gates, NO_TOKEN};
use super::args::SetupArgs;
use crate::inspect::status::run_async;

/// What is worked with.
pub(super) struct Work<'a> {
    pub(super) desk: &'a Desk,
    pub(super) gates: &'a Gates,
    pub(super) args: &'a SetupArgs,
}

/// What became of one editor.
pub(crate) struct Outcome {
    pub(crate) client: &'static Client,
    pub(crate) path: Option<String>,
    pub(crate) what: What,
}

pub(crate) enum What {
    Connected {
        backup: Option<String>,
        by_command: bool,
    },
    /// It was connected already.
    Already,
    /// What would change.
    Would(String),
    /// What a person pastes.
    Paste {
        snippet: String,
        link: Option<String>,
    },
    /// Only a person can do it.
    ByHand,
    Undone,
    NothingToUndo,
    Failed {
        why: Failure,
        snippet: Option<String>,
        link: Option<String>,
    },
}

impl Work<'_> {
    pub(super) fn on(&self, client: &'static Client) -> Outcome {
        let what = match self.args {
            SetupArgs { print: true, .. } => self.paste(client),
            _ if self.desk.path(client, self.scope()).is_none() && client.paste.is_none() => {
                let what = format!("{} has no servers of a project.", client.title);
                Err(Failure::new(Code::NotFound, what, "Leave out `--scope project`."))
            }
            SetupArgs { all: true, .. } if client.paste.is_some() => Ok(What::ByHand),
            _ if client.paste.is_some() => self.paste(client),
            SetupArgs { dry_run: true, .. } => self.would(client),
            _ => self.connect(client),
        };
        let path = self.desk.path(client, self.scope()).map(|path| path.display().to_string());
        let what = what.unwrap_or_else(|why| self.failed(client, why));
        Outcome { client, path, what }
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

    /// As a person says; else as it is already; else as suits the editor. What belongs to a project
    /// is shared with others, so it gets no token.
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

    /// The editor's own program and what to tell it, unless a person wants something else.
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

    fn connect(&self, client: &'static Client) -> Result<What, Failure> {
        let before = self.gates.of(client);
        // A file that will be left alone must not cost a token, nor another's server its place.
        self.plan(client, &before)?;
        if let Some(command) = self.command(client, &before) {
            if self.is_connected(client, &before) {
                return Ok(What::Already);
            }
            self.gates.made_for(client)?;
            tell(client, &command)?;
            self.desk.commanded(client, &self.doors()).map_err(|refused| told(&refused))?;
            return Ok(What::Connected { backup: None, by_command: true });
        }
        let plan = self.plan(client, &self.gates.made_for(client)?)?;
        let done = self.desk.apply(&plan).map_err(|refused| told(&refused))?;
        let backup = done.backup.map(|path| path.display().to_string());
        Ok(if done.changed { What::Connected { backup, by_command: false } } else { What::Already })
    }

    fn would(&self, client: &'static Client) -> Result<What, Failure> {
        let gate = self.gates.of(client);
        if let Some(command) = self.command(client, &gate) {
            if self.is_connected(client, &gate) {
                return Ok(What::Already);
            }
            let line = |words: &Vec<String>| {
                format!("{} {}\n", command.program.display(), words.join(" "))
            };
            return Ok(What::Would(command.lines.iter().map(line).collect()));
        }
        let plan = self.plan(client, &gate)?;
        Ok(if plan.changes() { What::Would(plan.diff(&gate)) } else { What::Already })
    }

    fn paste(&self, client: &'static Client) -> Result<What, Failure> {
        let gate =
            if self.args.dry_run { self.gates.of(client) } else { self.gates.made_for(client)? };
        Ok(What::Paste { snippet: self.snippet(client, &gate), link: self.link(client, &gate) })
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

    /// With what a person can paste, and no token in it.
    fn failed(&self, client: &Client, why: Failure) -> What {
        let gate = Gate { token: NO_TOKEN.to_owned(), ..self.gates.of(client) };
        What::Failed {
            why,
            snippet: Some(self.snippet(client, &gate)),
            link: self.link(client, &gate),
        }
    }
}

/// Tells the editor's own program what to do.
pub(super) fn tell(client: &Client, command: &Command) -> Result<(), Failure> {
    let told = run_async(evermoor_gateway::editors::setup::tell(client, command));
    let broken = |error| Failure::new(Code::Internal, format!("{error}."), "Try again.");
    told.map_err(broken)?
}
