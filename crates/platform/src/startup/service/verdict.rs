//! What the answers of a service manager mean. Pure functions.

use std::time::Duration;

use super::ServiceState;
use super::unit::ManagerCommand;
use crate::process::run::CommandOutput;
use crate::system::System;

/// What follows from the answer to one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ManagerVerdict {
    /// Go on with the next command.
    Done,
    /// Repeat the command after a moment.
    Retry,
    NoManager,
    /// It failed, with this error message.
    Refused(String),
}

/// How long launchd may take to unload a job. It stops the job first, which may finish its calls.
const UNLOAD_LIMIT: Duration = Duration::from_secs(15);

/// Exit codes of launchctl: the error numbers of macOS, and one of its own for a job that is not loaded.
const NO_SUCH_PROCESS: i32 = 3;
const INPUT_OUTPUT_ERROR: i32 = 5;
const IN_PROGRESS: i32 = 36;
const ALREADY_IN_PROGRESS: i32 = 37;
const NOT_LOADED: i32 = 113;

/// Judges the answer to a command that has been repeated for `waited`. No answer means that the program
/// is missing or took too long.
pub(super) fn judge(
    system: System,
    command: &ManagerCommand,
    answer: Option<&CommandOutput>,
    waited: Duration,
) -> ManagerVerdict {
    let Some(answer) = answer else { return ManagerVerdict::NoManager };
    if answer.success || command.may_fail {
        return ManagerVerdict::Done;
    }
    if no_manager(&answer.stderr) {
        return ManagerVerdict::NoManager;
    }
    let subcommand = command.args.first().map(String::as_str);
    match (system, subcommand, answer.code) {
        // What is not loaded need not be unloaded, and unloading goes on in the background.
        (
            System::MacOs,
            Some("bootout"),
            Some(NO_SUCH_PROCESS | NOT_LOADED | IN_PROGRESS | ALREADY_IN_PROGRESS),
        ) => ManagerVerdict::Done,
        // The job is still being unloaded.
        (
            System::MacOs,
            Some("bootstrap"),
            Some(INPUT_OUTPUT_ERROR | IN_PROGRESS | ALREADY_IN_PROGRESS),
        ) if waited < UNLOAD_LIMIT => ManagerVerdict::Retry,
        _ => ManagerVerdict::Refused(answer.stderr.clone()),
    }
}

/// The state of an installed service, by the answer to the query.
pub(super) fn state(system: System, answer: Option<&CommandOutput>) -> ServiceState {
    match (system, answer) {
        // The output is localized, so whether it runs cannot be parsed.
        (System::Windows, Some(answer)) if answer.success => {
            ServiceState::Installed { running: true }
        }
        (System::Windows, _) => ServiceState::NotInstalled,
        (_, None) => ServiceState::NoManager,
        (_, Some(answer)) if no_manager(&answer.stderr) => ServiceState::NoManager,
        (System::Linux, Some(answer)) => ServiceState::Installed { running: answer.success },
        // A job can be loaded without running, for example after it exited.
        (System::MacOs, Some(answer)) => {
            let running = answer.success && is_running(&answer.output);
            ServiceState::Installed { running }
        }
    }
}

/// Whether the output of `launchctl print` says that the job runs. Its own state comes before those of
/// its parts.
fn is_running(output: &str) -> bool {
    let state = output.lines().find_map(|line| line.trim().strip_prefix("state = "));
    state == Some("running")
}

/// Error messages of systemd and launchd when their user session is not running.
fn no_manager(stderr: &str) -> bool {
    let messages = [
        "Failed to connect",
        "not been booted with systemd",
        "No medium found",
        "Could not find domain",
        "Domain does not support specified action",
    ];
    messages.iter().any(|message| stderr.contains(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::startup::service::unit::{ManagerAction, steps};

    fn answer(code: i32, output: &str, stderr: &str) -> CommandOutput {
        let (output, stderr) = (output.to_owned(), stderr.to_owned());
        CommandOutput { success: code == 0, code: Some(code), output, stderr }
    }

    /// The command of launchctl with this name.
    fn launchctl(action: ManagerAction, name: &str) -> ManagerCommand {
        let mut steps = steps(System::MacOs, action, 501, None).into_iter();
        steps.find(|step| step.args[0] == name && !step.may_fail).unwrap()
    }

    fn judged(command: &ManagerCommand, answer: &CommandOutput, waited: u64) -> ManagerVerdict {
        judge(System::MacOs, command, Some(answer), Duration::from_secs(waited))
    }

    #[test]
    fn loading_is_repeated_while_the_old_job_is_being_unloaded() {
        let bootstrap = launchctl(ManagerAction::Install, "bootstrap");
        let busy = answer(5, "", "Bootstrap failed: 5: Input/output error");
        assert_eq!(judged(&bootstrap, &busy, 0), ManagerVerdict::Retry);
        assert_eq!(
            judged(&bootstrap, &answer(37, "", "already in progress"), 14),
            ManagerVerdict::Retry
        );
        let refused = ManagerVerdict::Refused("Bootstrap failed: 5: Input/output error".into());
        assert_eq!(judged(&bootstrap, &busy, 15), refused);
        assert_eq!(judged(&bootstrap, &answer(0, "", ""), 3), ManagerVerdict::Done);
    }

    #[test]
    fn a_job_that_is_not_loaded_need_not_be_unloaded() {
        let bootout = launchctl(ManagerAction::Uninstall, "bootout");
        for code in [3, 36, 37, 113] {
            assert_eq!(judged(&bootout, &answer(code, "", "x"), 0), ManagerVerdict::Done, "{code}");
        }
        let refused = ManagerVerdict::Refused("not permitted".into());
        assert_eq!(judged(&bootout, &answer(1, "", "not permitted"), 0), refused);
    }

    #[test]
    fn a_session_without_a_service_manager_is_recognised() {
        let bootstrap = launchctl(ManagerAction::Install, "bootstrap");
        let ssh =
            answer(125, "", "Bootstrap failed: 125: Domain does not support specified action");
        assert_eq!(judged(&bootstrap, &ssh, 0), ManagerVerdict::NoManager);
        assert_eq!(
            judge(System::Linux, &bootstrap, None, Duration::ZERO),
            ManagerVerdict::NoManager
        );
    }

    #[test]
    fn other_managers_are_not_asked_again() {
        let failed = answer(5, "", "no");
        for system in [System::Linux, System::Windows] {
            for step in steps(system, ManagerAction::Install, 501, None) {
                let verdict = judge(system, &step, Some(&failed), Duration::ZERO);
                let wanted = if step.may_fail {
                    ManagerVerdict::Done
                } else {
                    ManagerVerdict::Refused("no".into())
                };
                assert_eq!(verdict, wanted);
            }
        }
    }

    #[test]
    fn a_loaded_job_runs_only_if_launchd_says_so() {
        let print = |state: &str| {
            let parts = "\tendpoints = {\n\t\t\"x\" = {\n\t\t\tstate = running\n\t\t}\n\t}\n";
            let output =
                format!("gui/501/x = {{\n\tactive count = 1\n\tstate = {state}\n{parts}}}\n");
            answer(0, &output, "")
        };
        let seen = |answer: &CommandOutput| state(System::MacOs, Some(answer));
        assert_eq!(seen(&print("running")), ServiceState::Installed { running: true });
        for other in ["not running", "spawn scheduled", "exited"] {
            assert_eq!(seen(&print(other)), ServiceState::Installed { running: false }, "{other}");
        }
        let unloaded = answer(113, "", "Could not find service \"x\" in domain for user gui: 501");
        assert_eq!(seen(&unloaded), ServiceState::Installed { running: false });
    }
}
