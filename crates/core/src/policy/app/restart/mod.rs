//! Restarting an app: a state machine from the old run to a proven new one.
//!
//! # Theory of operation
//! The app's own restart request comes first, if its preset has one. If that fails, the app is
//! asked to quit and launched again, and as a last resort its process is stopped and launched
//! again. Every step has a deadline, and a step that fails leads to the next. Calls in flight may
//! finish first.
//!
//! An MCP handshake with a run other than the old one proves the restart: another process id, or
//! another start time. A response from the old process proves nothing. Where the process cannot be
//! seen, the old run must have been seen to go away.
//!
//! The machine has no clock and does no I/O. It takes [events](RestartEvent) with their time and
//! returns [actions](RestartAction). The caller reports every exit, sighting and handshake, and calls
//! it again at the deadline.
//!
//! `machine` is the state machine; `text` has the texts that the user reads during a restart.

mod machine;
#[cfg(test)]
mod tests;
mod text;

use std::time::Duration;

use super::AppRun;
use super::command::StopMode;
use crate::failure::Failure;
use crate::preset::Preset;

pub use machine::RestartMachine;

/// The app to restart, and its current state.
#[derive(Clone, Copy, Debug)]
pub struct RestartTarget<'a> {
    pub preset: &'a Preset,
    /// The run that must end, where its process can be seen.
    pub old: Option<AppRun>,
    /// Whether there is a run that must end.
    pub up: bool,
    /// Whether it still responds. An app that does not is not sent any request.
    pub answers: bool,
    /// The number of calls in flight.
    pub calls: usize,
    /// The number of ways to launch it.
    pub launch_methods: usize,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestartEvent {
    /// No call is in flight any more.
    Drained,
    /// The request to the app, or the launch, failed at once for this reason.
    Refused(String),
    /// The old run exited, or its port closed where no process can be seen.
    Gone,
    /// A process of the app was seen.
    Seen(AppRun),
    /// An MCP handshake succeeded, with this run if the process can be seen.
    HandshakeCompleted(Option<AppRun>),
    /// Time passed.
    Tick,
}

/// What the caller must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestartAction {
    /// Let no new call through, and report when none is in flight.
    Drain,
    /// Send the preset's restart request.
    AskToRestart,
    /// Send the preset's quit request, or ask the way the operating system does.
    AskToQuit,
    /// Stop the process.
    End(StopMode),
    /// Launch the app, using this one of the known ways.
    Launch { way: usize },
    /// Show this progress to the user.
    Progress(String),
    /// The restart is over.
    Finish(RestartOutcome),
}

/// How a restart ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestartOutcome {
    /// A new run is up and responds to MCP.
    Restarted {
        run: Option<AppRun>,
        took: Duration,
    },
    Failed {
        at: RestartStage,
        failure: Failure,
    },
}

/// The stage at which a restart failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartStage {
    /// It was asked to restart itself.
    SelfRestart,
    /// It was asked to quit.
    Quit,
    /// Its process was stopped.
    End,
    /// It was launched.
    Launch,
    /// It is running again and should have completed the handshake.
    Answer,
}

/// How long each stage may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartDeadlines {
    pub drain: Duration,
    pub self_restart: Duration,
    /// After it exited to restart itself, until it must be seen again.
    pub reappear: Duration,
    pub quit: Duration,
    /// From asking the process to stop until it is killed.
    pub stop: Duration,
    pub kill: Duration,
    /// From the launch to the first process.
    pub launch: Duration,
    /// From the first process to the handshake.
    pub handshake: Duration,
}

impl RestartDeadlines {
    pub fn of(preset: &Preset) -> Self {
        let seconds = Duration::from_secs;
        let own = |request: Option<&crate::preset::AppRequest>, default: u64| {
            request.map_or(seconds(default), |request| request.within)
        };
        Self {
            drain: seconds(10),
            self_restart: own(preset.restart.as_ref(), 15),
            reappear: seconds(8),
            quit: own(preset.quit.as_ref(), 10),
            stop: seconds(10),
            kill: seconds(5),
            launch: seconds(20),
            handshake: seconds(60),
        }
    }
}
