//! What is said of a program that ended, or that could not be started.

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::process::child::{Exit, StartError};

use super::super::stdio::stderr::{Mark, Stderr};
use crate::system::exit;

/// What is needed to say why a program ended.
pub(super) struct Said {
    pub(super) program: String,
    pub(super) stderr: Stderr,
    /// Where what it said begins.
    pub(super) mark: Mark,
}

/// The first sign that it is over.
pub(super) enum Sign {
    Exited(Exit),
    ClosedOutput,
    ClosedInput,
    DoesNotRead,
    Unwanted,
}

impl Said {
    pub(super) fn failure(&self, sign: &Sign, exit: Option<Exit>) -> Failure {
        let complaint = self.stderr.complaint_since(self.mark);
        let because = complaint.map(|line| format!(": {line}")).unwrap_or_default();
        let because = because.trim_end_matches('.');
        let program = &self.program;
        let (code, what) = match (sign, exit) {
            (_, Some(exit)) => {
                let ended = exit::sentence(exit);
                (Code::ConnectionRefused, format!("`{program}` {ended}{because}."))
            }
            (Sign::ClosedInput, None) => {
                (Code::ConnectionLost, format!("`{program}` closed its standard input{because}."))
            }
            (Sign::DoesNotRead, None) => {
                (Code::Timeout, format!("`{program}` does not read its standard input{because}."))
            }
            (Sign::ClosedOutput | Sign::Exited(_), None) => {
                (Code::ConnectionLost, format!("`{program}` closed its standard output{because}."))
            }
            (Sign::Unwanted, None) => (Code::ConnectionLost, format!("`{program}` was ended.")),
        };
        Failure::new(code, what, "Evermoor starts it again by itself.")
    }
}

pub(super) fn not_started(error: &StartError) -> Failure {
    let remedy = match error {
        StartError::NotOnPath { program } if program.contains(' ') => {
            "Put what follows the program into `args`; Evermoor tries again by itself."
        }
        StartError::NotOnPath { .. } => {
            "Install it, or write its full path as `command`; Evermoor tries again by itself."
        }
        StartError::NoFile { .. } | StartError::NoFolder { .. } => {
            "Correct the path in the configuration."
        }
        StartError::NotExecutable { .. } => {
            "Make it executable, or start it with its interpreter as `command`."
        }
        StartError::NoInterpreter { .. } => {
            "Install what its first line names, or correct that line."
        }
        StartError::Refused { .. } => "Evermoor tries again by itself.",
    };
    let mut what = format!("{error}.");
    if let Some(first) = what.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Failure::new(Code::Configuration, what, remedy)
}
