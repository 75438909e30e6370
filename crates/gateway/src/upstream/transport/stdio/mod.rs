//! An upstream that is a program: started, spoken to over its pipes, and ended.
//!
//! # Theory of operation
//! One task owns the program from its start to the end of its whole tree of processes. It writes,
//! reads, and watches for the end, whichever way it comes: the program exits, closes its output,
//! stops reading, or is not wanted any more. Then it lets the last words arrive, tells everybody
//! that the connection is closed and why, closes the program's input and ends the tree. The next
//! program is started only when that is done, for many cannot run twice.

pub(crate) mod pipe;
pub(crate) mod stderr;
#[cfg(all(test, unix))]
mod tests;
mod text;

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::FusedFuture;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::config;
use evermoor_core::failure::Failure;
use evermoor_core::protocol::dialect::Dialect;
use evermoor_core::security::secret_ref::Template;
use evermoor_platform::process::child;
use evermoor_platform::process::child::orphans::Mark;
use evermoor_platform::process::child::{Environment, Spec, Tree};

use super::connection::{Connected, Connection, Incoming};
use super::duplex::{self, Inbox, Outgoing};
use super::handshake::{self, Era};
use crate::config::secrets::Found;
use pipe::WriteEnd;
use stderr::Stderr;
use text::{Said, Sign, not_started};

/// A program may be downloaded before it can say who it is.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long what a program wrote before it ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(250);
/// How long a program that closed a pipe may take to end, so that it can be said how it did.
const END_LIMIT: Duration = Duration::from_secs(1);
/// How long calls under way may take when the gateway stops.
const DRAIN: Duration = Duration::from_secs(8);
/// How long the end of one program, with its last calls, may delay the start of the next.
const CLEARED_LIMIT: Duration = Duration::from_secs(20);

/// A program that can be connected to again and again.
pub(crate) struct Program {
    upstream: UpstreamName,
    spec: Spec,
    /// Its variables, whose secrets are found each time it is started.
    env: BTreeMap<String, Template>,
    stderr: Stderr,
    tasks: TaskTracker,
    stop: CancellationToken,
    /// What it was found to speak.
    era: Option<Era>,
    /// Ends the last one, which may still be held by its calls.
    replaced: CancellationToken,
    /// Open for as long as the last one runs.
    running: watch::Receiver<()>,
}

/// An attempt to connect that failed.
struct Failed {
    failure: Failure,
    /// The program ended by itself.
    ended: bool,
}

impl Program {
    /// `stop` ends the program, after the calls under way.
    pub(crate) fn new(
        upstream: UpstreamName,
        config: &config::Program,
        dialect: Option<Dialect>,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let spec = Spec {
            program: config.command.clone(),
            args: config.args.clone(),
            env: Default::default(),
            cwd: config.cwd.clone(),
        };
        let (_, running) = watch::channel(());
        Self {
            upstream,
            spec,
            env: config.env.clone(),
            stderr: Stderr::default(),
            tasks,
            stop,
            era: dialect.map(Era::from),
            replaced: CancellationToken::new(),
            running,
        }
    }

    /// What it was found to speak.
    pub(crate) fn dialect(&self) -> Option<Dialect> {
        self.era.map(Dialect::from)
    }

    /// Nobody will connect to it any more. It ends after the calls under way, and with it what is
    /// returned.
    pub(crate) fn retire(&self) -> watch::Receiver<()> {
        self.stop.cancel();
        self.running.clone()
    }

    /// Starts only when the one before it has ended.
    pub(crate) fn after(self, before: Option<watch::Receiver<()>>) -> Self {
        match before {
            Some(running) => Self { running, ..self },
            None => self,
        }
    }

    pub(crate) async fn connect(&mut self, found: &Found) -> Result<Connected, Failure> {
        let variable = |(name, template): (&String, &Template)| {
            let value = template.fill(|reference| found.value(reference))?;
            Ok((name.clone(), value.reveal().to_owned()))
        };
        self.spec.env = self.env.iter().map(variable).collect::<Result<_, Failure>>()?;
        let known = self.era.take();
        let failed = match self.attempt(known).await {
            Ok(connected) => return Ok(connected),
            Err(failed) => failed,
        };
        let instead = match (known, failed.ended) {
            // Some end when the first thing they hear is not `initialize`.
            (None, true) => Some(Era::Session),
            // It has been replaced by one that speaks otherwise.
            (Some(_), false) => None,
            (None, false) | (Some(_), true) => return Err(failed.failure),
        };
        self.attempt(instead).await.map_err(|failed| failed.failure)
    }

    /// Starts the program and hears who it is.
    async fn attempt(&mut self, era: Option<Era>) -> Result<Connected, Failed> {
        self.replaced.cancel();
        let cleared = async { while self.running.changed().await.is_ok() {} };
        let _ = timeout(CLEARED_LIMIT, cleared).await;
        let environment = Environment::find(&Mark::ours().to_string()).await;
        let mark = self.stderr.mark();
        let (tree, pipes) = match child::spawn(&self.spec, &environment).await {
            Ok(started) => started,
            Err(error) => {
                child::path::missed().await;
                return Err(Failed { failure: not_started(&error), ended: false });
            }
        };
        let (mut channel, inbox, outgoing, mut incoming) = duplex::channel();
        let (running, watched) = watch::channel(());
        (self.running, self.replaced) = (watched, CancellationToken::new());
        let said = Said { program: self.spec.program.clone(), stderr: self.stderr.clone(), mark };
        let (stop, replaced) = (self.stop.clone(), self.replaced.clone());
        let life = Life { tree, inbox, said, stop, replaced, _running: running };
        let keeping = self.stderr.clone().keep(pipes.stderr, self.upstream.clone());
        let keeping = self.tasks.spawn(keeping);
        self.tasks.spawn(life.live(pipes.stdin, pipes.stdout, outgoing, keeping));
        match handshake::negotiate(&mut channel, era, START_LIMIT).await {
            Ok((handshake, era)) => {
                self.era = Some(era);
                Ok(Connected {
                    connection: Connection::Duplex(Box::new(channel)),
                    handshake,
                    incoming,
                })
            }
            Err(failure) if channel.is_closed() => {
                let failure = why_closed(&mut incoming).await.unwrap_or(failure);
                Err(Failed { failure, ended: true })
            }
            Err(failure) => Err(Failed { failure, ended: false }),
        }
    }
}

/// A running program, owned by its task.
struct Life {
    tree: Tree,
    inbox: Inbox,
    said: Said,
    stop: CancellationToken,
    replaced: CancellationToken,
    _running: watch::Sender<()>,
}

impl Life {
    async fn live(
        mut self,
        stdin: ChildStdin,
        stdout: ChildStdout,
        outgoing: mpsc::Receiver<Outgoing>,
        mut keeping: JoinHandle<()>,
    ) {
        let inbox = self.inbox.clone();
        let mut writing = Box::pin(pipe::write(stdin, outgoing, &inbox).fuse());
        let mut reading = Box::pin(pipe::read(stdout, &inbox).fuse());
        let sign = tokio::select! {
            exit = self.tree.wait() => Sign::Exited(exit),
            _ = &mut reading => Sign::ClosedOutput,
            end = &mut writing => match end {
                WriteEnd::Broken => Sign::ClosedInput,
                WriteEnd::Stuck => Sign::DoesNotRead,
                WriteEnd::Closed => Sign::Unwanted,
            },
            () = unwanted(&inbox, &self.stop) => Sign::Unwanted,
            () = self.replaced.cancelled() => Sign::Unwanted,
        };
        let exit = match sign {
            Sign::Exited(exit) => Some(exit),
            Sign::ClosedOutput | Sign::ClosedInput => {
                timeout(END_LIMIT, self.tree.wait()).await.ok()
            }
            Sign::DoesNotRead | Sign::Unwanted => None,
        };
        if exit.is_some() {
            // What it wrote before it ended is still in the pipes.
            let last_words = async { tokio::join!(finish(&mut reading), &mut keeping) };
            let _ = timeout(LAST_WORDS, last_words).await;
        }
        inbox.close(self.said.failure(&sign, exit));
        // A message that is just being written learns what became of it.
        let _ = timeout(LAST_WORDS, finish(&mut writing)).await;
        drop(writing);
        // A program that says goodbye must be heard, or it would wait.
        let listening = async {
            finish(&mut reading).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            exit = self.tree.end() => tracing::debug!(program = self.said.program, ?exit, "it ended"),
            () = listening => {}
        }
        keeping.abort();
    }
}

/// Waits for something that may have ended already.
async fn finish(future: &mut (impl FusedFuture + Unpin)) {
    if !future.is_terminated() {
        future.await;
    }
}

/// Resolves when nobody wants the program any more. A gateway that stops lets calls under way end.
async fn unwanted(inbox: &Inbox, stop: &CancellationToken) {
    let stopped = async {
        stop.cancelled().await;
        let _ = timeout(DRAIN, inbox.idle()).await;
    };
    tokio::select! {
        () = inbox.closed() => {}
        () = stopped => {}
    }
}

/// What the task of a program that ended says of it.
async fn why_closed(incoming: &mut mpsc::Receiver<Incoming>) -> Option<Failure> {
    let told = async {
        while let Some(message) = incoming.recv().await {
            if let Incoming::Closed(failure) = message {
                return Some(failure);
            }
        }
        None
    };
    timeout(END_LIMIT + 2 * LAST_WORDS, told).await.ok().flatten()
}
