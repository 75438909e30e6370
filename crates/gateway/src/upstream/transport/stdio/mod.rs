//! An upstream that is a child process, connected over its standard input and output.
//!
//! # Theory of operation
//! One task owns the process from its start to the end of its whole process tree. It writes, reads,
//! and waits for the first sign of the end: the process exits, closes its output, stops reading, or
//! is no longer wanted. Then it reads what is still in the pipes, reports why the connection closed,
//! closes the process's input and ends the tree. Only then can the next process start, because many
//! programs cannot run twice.
//!
//! [`pipe`] has the messages, [`stderr`] the standard error, [`start_limit`] how long a start may take,
//! and [`failures`] the failures of a process.

mod failures;
pub(crate) mod pipe;
mod start_limit;
pub(crate) mod stderr;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
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
use evermoor_core::protocol::version::transport::Transport;
use evermoor_core::security::secret_ref::Template;
use evermoor_platform::process::child;
use evermoor_platform::process::child::orphans::ChildMark;
use evermoor_platform::process::child::{ChildEnvironment, ChildSpec, ProcessTree};
use evermoor_platform::process::info;

use super::connection::{Connected, Connection, ConnectionEvent};
use super::duplex::handshake;
use super::duplex::{self, Inbox, Outgoing};
use crate::config::secrets::FoundSecrets;
use crate::system::budget::{Budget, Intake};
use failures::{EndReason, ProcessLog, not_started};
use pipe::WriteEnd;
use start_limit::VisibleWork;
use stderr::Stderr;

/// How long to wait for what a process wrote before it exited.
const FLUSH_LIMIT: Duration = Duration::from_millis(250);
/// How long to wait for the exit code of a process that closed a pipe.
const EXIT_LIMIT: Duration = Duration::from_secs(1);
/// How long calls in flight may take when the gateway stops.
pub(crate) const DRAIN_LIMIT: Duration = Duration::from_secs(4);
/// How long the end of one process, with its last calls, may delay the start of the next.
const PREVIOUS_LIMIT: Duration = Duration::from_secs(20);

/// A stdio server, which is started for each connection.
pub(crate) struct StdioServer {
    upstream: UpstreamName,
    spec: ChildSpec,
    /// Its environment variables. Their secrets are looked up at each start.
    env: BTreeMap<String, Template>,
    start_timeout: Duration,
    /// How much of what it writes may be kept.
    buffers: Arc<Budget>,
    stderr: Stderr,
    tasks: TaskTracker,
    stop: CancellationToken,
    /// Whether it was found to have sessions.
    transport: Option<Transport>,
    /// Ends the last process, which its calls may still keep alive.
    replaced: CancellationToken,
    /// Open while the last process runs.
    running: watch::Receiver<()>,
    /// A process that hangs and runs on beside the next one: what ends it, and what is open while it
    /// runs.
    kept: Option<(CancellationToken, watch::Receiver<()>)>,
}

/// A failed attempt to connect.
struct AttemptError {
    failure: Failure,
    /// Whether the process exited on its own.
    exited: bool,
}

impl StdioServer {
    /// `stop` ends the process after the calls in flight.
    pub(crate) fn new(
        upstream: UpstreamName,
        config: &config::StdioCommand,
        buffers: Arc<Budget>,
        transport: Option<Transport>,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let spec = ChildSpec {
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
            start_timeout: config.start_timeout,
            buffers,
            stderr: Stderr::default(),
            tasks,
            stop,
            transport,
            replaced: CancellationToken::new(),
            running,
            kept: None,
        }
    }

    /// Lets the last process run beside the next one, unless that does not work.
    pub(crate) fn keep_last(&mut self) {
        let (_, ended) = watch::channel(());
        let last =
            (std::mem::take(&mut self.replaced), std::mem::replace(&mut self.running, ended));
        if let Some((replaced, _)) = self.kept.replace(last) {
            replaced.cancel();
        }
    }

    /// The transport and version it was found to speak.
    pub(crate) fn transport(&self) -> Option<Transport> {
        self.transport
    }

    /// Ends the process after the calls in flight. The returned watch closes when it has ended.
    pub(crate) fn retire(&self) -> watch::Receiver<()> {
        self.stop.cancel();
        self.running.clone()
    }

    /// Starts only when the previous process has ended.
    pub(crate) fn after(self, previous: Option<watch::Receiver<()>>) -> Self {
        match previous {
            Some(running) => Self { running, ..self },
            None => self,
        }
    }

    pub(crate) async fn connect(&mut self, found: &FoundSecrets) -> Result<Connected, Failure> {
        let variable = |(name, template): (&String, &Template)| {
            let value = template.fill(|reference| found.value(reference))?;
            Ok((name.clone(), value.reveal().to_owned()))
        };
        self.spec.env = self.env.iter().map(variable).collect::<Result<_, Failure>>()?;
        let known = self.transport.take();
        let error = match self.attempt(known).await {
            Ok(connected) => return Ok(connected),
            Err(error) => error,
        };
        self.end_kept();
        let instead = match (known, error.exited) {
            // Some servers exit if the first message is not `initialize`.
            (None, true) => Some(Transport::Session),
            // The program may have been updated and speak another version now.
            (Some(_), false) => None,
            (None, false) | (Some(_), true) => return Err(error.failure),
        };
        self.attempt(instead).await.map_err(|error| error.failure)
    }

    /// Ends a process that was kept, because many programs cannot run twice. The next attempt waits
    /// for its end.
    fn end_kept(&mut self) {
        if let Some((replaced, running)) = self.kept.take() {
            replaced.cancel();
            self.running = running;
        }
    }

    /// Starts the process and does the handshake.
    async fn attempt(&mut self, transport: Option<Transport>) -> Result<Connected, AttemptError> {
        self.replaced.cancel();
        let previous_ended = async { while self.running.changed().await.is_ok() {} };
        let _ = timeout(PREVIOUS_LIMIT, previous_ended).await;
        let environment = ChildEnvironment::find(&ChildMark::ours().to_string()).await;
        let start = self.stderr.position();
        let (tree, pipes) = match child::spawn(&self.spec, &environment).await {
            Ok(started) => started,
            Err(error) => {
                child::path::program_not_found().await;
                return Err(AttemptError { failure: not_started(&error), exited: false });
            }
        };
        let (mut channel, inbox, outgoing, mut incoming) = duplex::channel();
        let leader = tree.pid();
        channel.set_process(leader);
        let (running, watched) = watch::channel(());
        (self.running, self.replaced) = (watched, CancellationToken::new());
        let (program, stderr) = (self.spec.program.clone(), self.stderr.clone());
        let log = ProcessLog { program, stderr, start };
        let (stop, replaced) = (self.stop.clone(), self.replaced.clone());
        let buffers = Arc::clone(&self.buffers);
        let process =
            RunningProcess { tree, inbox, buffers, log, stop, replaced, _running: running };
        let reading_stderr = self.stderr.clone().read(pipes.stderr, self.upstream.clone());
        let reading_stderr = self.tasks.spawn(reading_stderr);
        self.tasks.spawn(process.run(pipes.stdin, pipes.stdout, outgoing, reading_stderr));
        let stderr = &self.stderr;
        let look = || async move {
            let processor = match leader {
                Some(leader) => info::group_processor_time(leader).await,
                None => Duration::ZERO,
            };
            VisibleWork { processor, written: stderr.position() }
        };
        let negotiated = tokio::select! {
            biased;
            negotiated = handshake::negotiate(&mut channel, transport, Duration::MAX) => negotiated,
            waited = start_limit::expired(self.start_timeout, look) => {
                Err(handshake::silent(waited))
            }
        };
        match negotiated {
            Ok((handshake, transport)) => {
                self.transport = Some(transport);
                Ok(Connected {
                    connection: Connection::Duplex(Box::new(channel)),
                    handshake,
                    incoming,
                })
            }
            Err(failure) if channel.is_closed() => {
                let failure = why_closed(&mut incoming).await.unwrap_or(failure);
                Err(AttemptError { failure, exited: true })
            }
            Err(failure) => Err(AttemptError { failure, exited: false }),
        }
    }
}

/// A running process, owned by its task.
struct RunningProcess {
    tree: ProcessTree,
    inbox: Inbox,
    buffers: Arc<Budget>,
    log: ProcessLog,
    stop: CancellationToken,
    replaced: CancellationToken,
    _running: watch::Sender<()>,
}

impl RunningProcess {
    async fn run(
        mut self,
        stdin: ChildStdin,
        stdout: ChildStdout,
        outgoing: mpsc::Receiver<Outgoing>,
        mut reading_stderr: JoinHandle<()>,
    ) {
        let inbox = self.inbox.clone();
        let mut writing = Box::pin(pipe::write(stdin, outgoing, &inbox).fuse());
        let mut reading = Box::pin(pipe::read(stdout, &inbox, Intake::new(&self.buffers)).fuse());
        let reason = tokio::select! {
            exit = self.tree.wait() => EndReason::Exited(exit),
            _ = &mut reading => EndReason::ClosedOutput,
            end = &mut writing => match end {
                WriteEnd::Broken => EndReason::ClosedInput,
                WriteEnd::Stuck => EndReason::DoesNotRead,
                WriteEnd::Closed => EndReason::Unwanted,
            },
            () = until_unwanted(&inbox, &self.stop) => EndReason::Unwanted,
            () = self.replaced.cancelled() => EndReason::Unwanted,
        };
        let exit = match reason {
            EndReason::Exited(exit) => Some(exit),
            EndReason::ClosedOutput | EndReason::ClosedInput => {
                timeout(EXIT_LIMIT, self.tree.wait()).await.ok()
            }
            EndReason::DoesNotRead | EndReason::Unwanted => None,
        };
        if exit.is_some() {
            // What it wrote before it exited is still in the pipes.
            let flush = async { tokio::join!(finish(&mut reading), &mut reading_stderr) };
            let _ = timeout(FLUSH_LIMIT, flush).await;
        }
        inbox.close(self.log.failure(&reason, exit));
        // Lets the writer report the result of a message that is just being written.
        let _ = timeout(FLUSH_LIMIT, finish(&mut writing)).await;
        drop(writing);
        // Keeps reading, because a process that writes to a full pipe while it exits would hang.
        let draining = async {
            finish(&mut reading).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            exit = self.tree.end() => tracing::debug!(program = self.log.program, ?exit, "process ended"),
            () = draining => {}
        }
        reading_stderr.abort();
    }
}

/// Waits for a future that may have ended already.
async fn finish(future: &mut (impl FusedFuture + Unpin)) {
    if !future.is_terminated() {
        future.await;
    }
}

/// Resolves when the process is no longer wanted. If the gateway stops, calls in flight may end first.
async fn until_unwanted(inbox: &Inbox, stop: &CancellationToken) {
    let stopped = async {
        stop.cancelled().await;
        let _ = timeout(DRAIN_LIMIT, inbox.idle()).await;
    };
    tokio::select! {
        () = inbox.closed() => {}
        () = stopped => {}
    }
}

/// The reason that the task of a process reports when it ends.
async fn why_closed(incoming: &mut mpsc::Receiver<ConnectionEvent>) -> Option<Failure> {
    let closed = async {
        while let Some(message) = incoming.recv().await {
            if let ConnectionEvent::Closed(failure) = message {
                return Some(failure);
            }
        }
        None
    };
    timeout(EXIT_LIMIT + 2 * FLUSH_LIMIT, closed).await.ok().flatten()
}
