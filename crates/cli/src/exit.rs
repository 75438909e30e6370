//! How a command ends: the codes that scripts can rely on.

use std::process::ExitCode;

use crate::terminal;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    /// It did not work; the reason has been printed.
    Failure,
    /// No gateway runs.
    NotRunning,
    /// The gateway runs, and something is down.
    Degraded,
    /// The configuration cannot be used.
    BadConfiguration,
}

impl Exit {
    /// Prints why, and ends with a failure.
    pub(crate) fn failure(why: &dyn std::fmt::Display) -> Self {
        terminal::complain(why);
        Self::Failure
    }

    /// Prints that there is no gateway.
    pub(crate) fn not_running() -> Self {
        terminal::complain(&"Evermoor is not running. Start it with `evermoor serve`.");
        Self::NotRunning
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::Failure => 1,
            Exit::NotRunning => 3,
            Exit::Degraded => 4,
            Exit::BadConfiguration => 78,
        })
    }
}
