//! The service definitions, and the commands that manage them. Pure functions.
//!
//! [`launchd`]: the property list of macOS; [`systemd`]: the unit of Linux; [`task`]: the task of the
//! Windows Task Scheduler.

mod launchd;
mod systemd;
mod task;
#[cfg(test)]
mod tests;

use std::ffi::{CStr, OsString};
use std::path::{Path, PathBuf};

use super::Service;
use crate::system::System;

/// What to do with the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerAction {
    Install,
    Uninstall,
    Restart,
    /// Stop what starts a gateway again that the user stopped, until the next login.
    Release,
    Query,
}

/// One command of the service manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagerCommand {
    pub program: String,
    pub args: Vec<String>,
    /// A failure is not an error.
    pub may_fail: bool,
}

/// Its name in launchd.
pub const LABEL: &str = "dev.evermoor.gateway";
/// The name of its socket in launchd.
pub const SOCKET: &CStr = c"Listener";
/// Its name in systemd.
pub const UNIT: &str = "evermoor.service";
/// Its name in the Windows Task Scheduler.
pub const TASK: &str = "Evermoor Gateway";
const RUN_KEY: &str = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run";

/// The path of the definition.
pub fn path(system: System, env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    match system {
        System::MacOs => {
            Some(set("HOME")?.join("Library/LaunchAgents").join(format!("{LABEL}.plist")))
        }
        System::Linux => {
            let config = set("XDG_CONFIG_HOME").filter(|folder| system.is_absolute(folder));
            let config = config.or_else(|| Some(set("HOME")?.join(".config")))?;
            Some(config.join("systemd/user").join(UNIT))
        }
        System::Windows => Some(set("LOCALAPPDATA")?.join("Evermoor").join("service.xml")),
    }
}

/// The definition as text.
pub fn text(system: System, service: &Service) -> String {
    match system {
        System::MacOs => launchd::text(service, &words(service)),
        System::Linux => systemd::text(&words(service)),
        System::Windows => task::text(service, &words(service)),
    }
}

/// The definition in the encoding that the system expects.
pub fn bytes(system: System, service: &Service) -> Vec<u8> {
    let text = text(system, service);
    match system {
        System::MacOs | System::Linux => text.into_bytes(),
        System::Windows => task::encoded(&text),
    }
}

/// The command line. `--takeover` replaces a running gateway without losing a call.
fn words(service: &Service) -> Vec<String> {
    let mut words = vec![service.program.to_string_lossy().into_owned()];
    words.extend(["serve", "--takeover", "--background"].map(str::to_owned));
    if let Some(home) = &service.home {
        words.extend(["--home".to_owned(), home.to_string_lossy().into_owned()]);
    }
    words
}

/// The commands that perform an action.
pub fn steps(
    system: System,
    act: ManagerAction,
    user: u32,
    file: Option<&Path>,
) -> Vec<ManagerCommand> {
    let step = |program: &str, args: &[&str]| ManagerCommand {
        program: program.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        may_fail: false,
    };
    let optional = |step: ManagerCommand| ManagerCommand { may_fail: true, ..step };
    // Older versions of Evermoor used a registry entry.
    let delete_old_entry = || optional(step("reg", &["delete", RUN_KEY, "/v", TASK, "/f"]));
    let (domain, job) = (format!("gui/{user}"), format!("gui/{user}/{LABEL}"));
    let file = file.map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    match (system, act) {
        (System::MacOs, ManagerAction::Install) => vec![
            step("launchctl", &["bootout", &job]),
            // A job that the user disabled cannot be loaded.
            optional(step("launchctl", &["enable", &job])),
            step("launchctl", &["bootstrap", &domain, &file]),
        ],
        // launchd closes its socket with the job, and loads the job again at the next login.
        (System::MacOs, ManagerAction::Uninstall | ManagerAction::Release) => {
            vec![step("launchctl", &["bootout", &job])]
        }
        (System::Linux | System::Windows, ManagerAction::Release) => Vec::new(),
        (System::MacOs, ManagerAction::Restart) => {
            // A job that was unloaded is loaded first; loading a loaded one fails.
            vec![
                optional(step("launchctl", &["bootstrap", &domain, &file])),
                step("launchctl", &["kickstart", "-k", &job]),
            ]
        }
        (System::MacOs, ManagerAction::Query) => vec![step("launchctl", &["print", &job])],
        (System::Linux, ManagerAction::Install) => vec![
            step("systemctl", &["--user", "daemon-reload"]),
            step("systemctl", &["--user", "enable", UNIT]),
            step("systemctl", &["--user", "restart", UNIT]),
        ],
        (System::Linux, ManagerAction::Uninstall) => {
            vec![step("systemctl", &["--user", "disable", "--now", UNIT])]
        }
        (System::Linux, ManagerAction::Restart) => {
            vec![step("systemctl", &["--user", "restart", UNIT])]
        }
        (System::Linux, ManagerAction::Query) => {
            vec![step("systemctl", &["--user", "is-active", UNIT])]
        }
        (System::Windows, ManagerAction::Install) => vec![
            delete_old_entry(),
            step("schtasks", &["/Create", "/TN", TASK, "/XML", &file, "/F"]),
            step("schtasks", &["/Run", "/TN", TASK]),
        ],
        (System::Windows, ManagerAction::Uninstall) => vec![
            optional(step("schtasks", &["/End", "/TN", TASK])),
            delete_old_entry(),
            step("schtasks", &["/Delete", "/TN", TASK, "/F"]),
        ],
        (System::Windows, ManagerAction::Restart) => vec![
            optional(step("schtasks", &["/End", "/TN", TASK])),
            step("schtasks", &["/Run", "/TN", TASK]),
        ],
        (System::Windows, ManagerAction::Query) => vec![step("schtasks", &["/Query", "/TN", TASK])],
    }
}
