//! Sets editors up: checks that this program stays where it is, runs an editor's own command, asks an
//! editor whether it can use its entry, and explains refusals.

use std::path::Path;
use std::time::Duration;

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::paths::Paths;
use evermoor_platform::process::run;
use evermoor_platform::startup::location;
use evermoor_platform::system::System;
use evermoor_setup::table::self_check::{SelfCheck, SelfCheckResult};
use evermoor_setup::user_editors::command::EditorCommand;
use evermoor_setup::{EditorSpec, SetupError};

/// An editor's command that takes longer hangs.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// An editor that takes longer to say whether it can use an entry is not waited for.
const CHECK_TIMEOUT: Duration = Duration::from_secs(20);
/// The folder in which editors are asked, in the data folder. It is empty, so that an editor does not
/// start the servers of a project.
const CHECK_FOLDER: &str = "check";

/// Fails if this program will vanish from where it is, because then its path must not be written down.
pub fn check_location() -> Result<(), Failure> {
    let program = std::env::current_exe().unwrap_or_default();
    refuse_transient(System::HERE, &program)
}

fn refuse_transient(system: System, program: &Path) -> Result<(), Failure> {
    match location::transient(system, program) {
        Some(location) => Err(Failure::new(Code::Refused, location.sentence(), location.remedy())),
        None => Ok(()),
    }
}

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

/// Asks an editor whether it can use an entry.
pub async fn ask(paths: &Paths, program: &Path, check: &SelfCheck, entry: &str) -> SelfCheckResult {
    let folder = paths.data.join(CHECK_FOLDER);
    if evermoor_platform::fs::private::private_folder(&folder).is_err() {
        return SelfCheckResult::Unclear;
    }
    let arguments = check.arguments(entry);
    let output =
        run::output_in(&folder, program, &arguments, &check.variables, CHECK_TIMEOUT).await;
    // If the editor left something there, the folder stays.
    let _ = std::fs::remove_dir(&folder);
    output.map_or(SelfCheckResult::Unclear, |output| check.judge(entry, &output.output))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_on_a_disk_image_is_refused_with_what_to_do() {
        let program = Path::new("/Volumes/Evermoor/Evermoor.app/Contents/MacOS/evermoor");
        let failure = refuse_transient(System::MacOs, program).unwrap_err();
        assert_eq!(failure.code, Code::Refused);
        assert!(failure.remedy.starts_with("Move Evermoor to Applications"), "{failure}");
        assert!(refuse_transient(System::Linux, program).is_ok());
        assert!(check_location().is_ok(), "the tests run from a folder that stays");
    }
}
