//! Sets editors up: runs an editor's own command, and explains refusals.

use std::time::Duration;

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::process::run;
use evermoor_setup::editors::command::EditorCommand;
use evermoor_setup::{EditorSpec, SetupError};

/// An editor's command that takes longer hangs.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs an editor's own command. Preparatory steps may fail: there may be nothing to remove.
pub async fn tell(client: &EditorSpec, command: &EditorCommand) -> Result<(), Failure> {
    let program = command.program.display().to_string();
    for (index, line) in command.lines.iter().enumerate() {
        let matters =
            line.iter().any(|word| word == "add-json") || index + 1 == command.lines.len();
        let what = match run::output(&program, line, COMMAND_TIMEOUT).await {
            Some(output) if output.success || !matters => continue,
            Some(output) => {
                format!("{}'s command {program} failed: {}.", client.title, output.stderr)
            }
            None => format!("{}'s command {program} did not finish in time.", client.title),
        };
        let remedy =
            "Run it yourself to see why, or use `--transport http` to edit the file instead.";
        return Err(Failure::new(Code::Refused, what, remedy));
    }
    Ok(())
}

/// Why an editor's file was not changed, and what to do.
pub fn setup_failure(refused: &SetupError) -> Failure {
    let remedy = match refused {
        SetupError::Untouchable { .. } | SetupError::NotText { .. } => {
            "Correct the file, or paste the entry into it yourself."
        }
        SetupError::Taken { .. } => {
            "Rename that server, or move it into Evermoor with `evermoor import`."
        }
        SetupError::File(_) => {
            "Make it writable and try again, or paste the entry into it yourself."
        }
        SetupError::Journal(_) => "Make Evermoor's data folder writable and try again.",
        SetupError::NoFile { .. } | SetupError::NotConnected { .. } => "See `evermoor setup`.",
    };
    Failure::new(Code::Refused, format!("{refused}."), remedy)
}
