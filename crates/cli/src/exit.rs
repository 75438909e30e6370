//! Exit codes, which scripts can rely on, and the errors printed with them.

use std::process::ExitCode;

use evermoor_core::failure::{Code, Failure};
use serde_json::{Value, json};

use crate::terminal;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    /// The command failed. The reason has been printed.
    Failure,
    /// The command line is invalid. The reason has been printed.
    Usage,
    /// No gateway is running.
    NotRunning,
    /// The gateway is running, but something is down.
    Degraded,
    /// The configuration is invalid.
    BadConfiguration,
}

impl Exit {
    /// Prints the reason and returns [`Exit::Failure`].
    pub(crate) fn failure(why: &dyn std::fmt::Display) -> Self {
        report(json!({ "what": why.to_string() }), why);
        Self::Failure
    }

    /// Prints what happened and what to do, and returns [`Exit::Failure`].
    pub(crate) fn failed(failure: &Failure) -> Self {
        report(json!(failure), failure);
        Self::Failure
    }

    /// Prints what is wrong with the command line.
    pub(crate) fn usage(why: &dyn std::fmt::Display) -> Self {
        report(json!({ "what": why.to_string() }), why);
        Self::Usage
    }

    /// Prints that no gateway is running.
    pub(crate) fn not_running() -> Self {
        let remedy = "Run `evermoor start`, or `evermoor serve` to keep it in this terminal.";
        let failure = Failure::new(Code::NotRunning, "Evermoor is not running.", remedy);
        report(json!(failure), &failure);
        Self::NotRunning
    }
}

/// Prints an error: as data on stdout for programs, and as text on stderr for users.
fn report(data: Value, words: &dyn std::fmt::Display) {
    if terminal::options().json {
        terminal::print_json(json!({ "error": data }));
    }
    terminal::print_error(words);
}

/// Prints clap's error, help or version text. With `--json`, also prints the error as data, even
/// though the rest of the command line may be invalid.
pub(crate) fn usage_error(mistake: &clap::Error) -> ExitCode {
    let wants_data = std::env::args_os().any(|arg| arg == "--json");
    if mistake.use_stderr() && wants_data {
        let what = mistake.render().to_string();
        terminal::print_json(json!({ "error": { "code": "usage", "what": what.trim_end() } }));
    }
    let _ = mistake.print();
    ExitCode::from(u8::try_from(mistake.exit_code()).unwrap_or(2))
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::Failure => 1,
            Exit::Usage => 2,
            Exit::NotRunning => 3,
            Exit::Degraded => 4,
            Exit::BadConfiguration => 78,
        })
    }
}
