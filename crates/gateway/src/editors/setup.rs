//! Connecting editors, as far as it takes a running program: telling an editor's own, and saying why not.

use std::time::Duration;

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::process::run;
use evermoor_setup::editors::command::Command;
use evermoor_setup::{Client, Refused};

/// An editor's own program that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs an editor's own program. What it is told in passing may fail: there may be nothing to remove.
pub async fn tell(client: &Client, command: &Command) -> Result<(), Failure> {
    let program = command.program.display().to_string();
    for (index, line) in command.lines.iter().enumerate() {
        let matters =
            line.iter().any(|word| word == "add-json") || index + 1 == command.lines.len();
        let what = match run::said(&program, line, PATIENCE).await {
            Some(said) if said.good || !matters => continue,
            Some(said) => {
                format!("The program of {}, {program}, refused: {}.", client.title, said.complaint)
            }
            None => format!("The program of {}, {program}, does not answer.", client.title),
        };
        let remedy =
            "Run it yourself to see what is wrong; `--transport http` edits the file instead.";
        return Err(Failure::new(Code::Refused, what, remedy));
    }
    Ok(())
}

/// Why an editor's file was left alone, and what to do.
pub fn told(refused: &Refused) -> Failure {
    let remedy = match refused {
        Refused::Untouchable { .. } | Refused::NotText { .. } => {
            "Correct the file, or paste the entry into it yourself."
        }
        Refused::Taken { .. } => {
            "Give that server another name, or adopt it with `evermoor import`."
        }
        Refused::File(_) => "Make it writable and try again, or paste the entry into it yourself.",
        Refused::Journal(_) => "Make Evermoor's data folder writable and try again.",
        Refused::NoFile { .. } | Refused::NotConnected { .. } => "See `evermoor setup`.",
    };
    Failure::new(Code::Refused, format!("{refused}."), remedy)
}
