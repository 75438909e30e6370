//! The failures of a process that ended or could not be started.

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::process::child::{ProcessExit, SpawnError};

use super::stderr::{Position, Stderr};
use crate::system::exit;

/// The name of a process and its standard error, which explain why it ended.
pub(super) struct ProcessLog {
    pub(super) program: String,
    pub(super) stderr: Stderr,
    /// Where the output of this process starts.
    pub(super) start: Position,
}

/// The first sign that a process is ending.
pub(super) enum EndReason {
    Exited(ProcessExit),
    ClosedOutput,
    ClosedInput,
    DoesNotRead,
    Unwanted,
}

impl ProcessLog {
    pub(super) fn failure(&self, reason: &EndReason, exit: Option<ProcessExit>) -> Failure {
        let error = self.stderr.error_since(self.start);
        let because = error.map(|line| format!(": {line}")).unwrap_or_default();
        let because = because.trim_end_matches('.');
        let program = &self.program;
        let (code, what) = match (reason, exit) {
            (_, Some(exit)) => {
                let ended = exit::sentence(exit);
                (Code::ConnectionRefused, format!("`{program}` {ended}{because}."))
            }
            (EndReason::ClosedInput, None) => {
                (Code::ConnectionLost, format!("`{program}` closed its standard input{because}."))
            }
            (EndReason::DoesNotRead, None) => {
                (Code::Timeout, format!("`{program}` does not read its standard input{because}."))
            }
            (EndReason::ClosedOutput | EndReason::Exited(_), None) => {
                (Code::ConnectionLost, format!("`{program}` closed its standard output{because}."))
            }
            (EndReason::Unwanted, None) => {
                (Code::ConnectionLost, format!("Evermoor stopped `{program}`."))
            }
        };
        Failure::new(code, what, "Evermoor restarts it automatically.")
    }
}

pub(super) fn not_started(error: &SpawnError) -> Failure {
    let remedy = match error {
        SpawnError::NotOnPath { program } if program.contains(' ') => {
            "Move the arguments from `command` to `args`. Evermoor retries automatically."
        }
        SpawnError::NotOnPath { .. } => {
            "Install it, or set `command` to its full path. Evermoor retries automatically."
        }
        SpawnError::NoFile { .. } | SpawnError::NoFolder { .. } => {
            "Correct the path in the configuration."
        }
        SpawnError::NotExecutable { .. } => {
            "Make it executable, or set `command` to its interpreter."
        }
        SpawnError::NoInterpreter { .. } => {
            "Install the interpreter in its first line, or correct that line."
        }
        SpawnError::Refused { .. } => "Evermoor retries automatically.",
    };
    let mut what = format!("{error}.");
    if let Some(first) = what.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Failure::new(Code::Configuration, what, remedy)
}
