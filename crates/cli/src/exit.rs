//! How a command ends: the codes that scripts can rely on.

use std::process::ExitCode;

use evermoor_core::failure::{Code, Failure};
use serde_json::{Value, json};

use crate::terminal;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    /// It did not work; the reason has been printed.
    Failure,
    /// The command line makes no sense; why has been printed.
    Usage,
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
        tell(json!({ "what": why.to_string() }), why);
        Self::Failure
    }

    /// Prints what went wrong and what to do, and ends with a failure.
    pub(crate) fn failed(failure: &Failure) -> Self {
        tell(json!(failure), failure);
        Self::Failure
    }

    /// Prints what is wrong with the command line.
    pub(crate) fn usage(why: &dyn std::fmt::Display) -> Self {
        tell(json!({ "what": why.to_string() }), why);
        Self::Usage
    }

    /// Prints that there is no gateway.
    pub(crate) fn not_running() -> Self {
        let remedy = "Start it with `evermoor start`, or with `evermoor serve` to see it work.";
        let failure = Failure::new(Code::NotRunning, "Evermoor is not running.", remedy);
        tell(json!(failure), &failure);
        Self::NotRunning
    }
}

/// A program finds the reason where it looks for data, and a person where they look for words.
fn tell(data: Value, words: &dyn std::fmt::Display) {
    if terminal::manner().json {
        terminal::print_json(json!({ "error": data }));
    }
    terminal::complain(words);
}

/// Says what is wrong with the command line, or what was asked about it. Whoever wants data gets it,
/// though nothing else of the line may be understood.
pub(crate) fn mistyped(mistake: &clap::Error) -> ExitCode {
    let wants_data = std::env::args_os().any(|word| word == "--json");
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
