//! Launches a desktop application.
//!
//! The application outlives Evermoor, runs in its own session, and gets only the environment variables
//! that every desktop application gets.

use std::ffi::OsString;
use std::io;

use tokio::process::Child;

use crate::process::child::ChildEnvironment;
use crate::process::child::environment::CHILD_MARKER;
use crate::process::spawn::session_command;

/// Variables for the display and the desktop, in addition to those of every child.
const DESKTOP: [&str; 12] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_SESSION",
    "DISPLAY",
    "GDK_BACKEND",
    "QT_QPA_PLATFORM",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_CURRENT_DESKTOP",
    "XDG_SEAT",
    "XDG_SESSION_ID",
    "XDG_SESSION_TYPE",
    "XDG_VTNR",
];

/// Starts the application, or the program that launches it. The child keeps running if the handle is
/// dropped.
pub fn start(program: &str, args: &[String], environment: &ChildEnvironment) -> io::Result<Child> {
    let mut command = session_command(program);
    command.args(args).env_clear().envs(variables(environment, std::env::vars_os()));
    if let Some(home) = environment.home().filter(|home| home.is_dir()) {
        command.current_dir(home);
    }
    command.spawn()
}

fn variables(
    environment: &ChildEnvironment,
    ours: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let kept = environment.for_child(&[]).into_iter().filter(|(name, _)| name != CHILD_MARKER);
    let desktop =
        ours.filter(|(name, _)| name.to_str().is_some_and(|name| DESKTOP.contains(&name)));
    kept.chain(desktop).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::spawn::script;
    use crate::system::System;
    use std::ffi::OsStr;

    fn environment(system: System, given: &[(&str, &str)]) -> ChildEnvironment {
        let given = given.iter().map(|(name, value)| (name.into(), value.into()));
        ChildEnvironment::new(system, given, OsStr::new("/usr/bin:/bin"), "7.7.7")
    }

    #[test]
    fn an_application_gets_desktop_variables_and_no_secrets() {
        let ours = [("DISPLAY", ":0"), ("GITHUB_TOKEN", "secret"), ("EVERMOOR_HOME", "/x")];
        let ours = ours.iter().map(|(name, value)| (name.into(), value.into()));
        let found = variables(&environment(System::Linux, &[("HOME", "/home/a")]), ours);
        let names: Vec<&str> = found.iter().filter_map(|(name, _)| name.to_str()).collect();
        assert_eq!(names, ["HOME", "PATH", "DISPLAY"]);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn an_application_has_its_own_session() {
        let home = environment(System::HERE, &[("HOME", "/")]);
        let mut child = start("sleep", &["600".to_owned()], &home).unwrap();
        assert!(crate::process::spawn::leads_its_session(child.id().unwrap()));
        child.kill().await.unwrap();
    }

    #[tokio::test]
    async fn an_application_starts_in_the_home_folder_and_reports_its_exit_code() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        // Windows needs the folder of its system.
        let root = std::env::var("SYSTEMROOT").unwrap_or_default();
        let given = [("HOME", home), ("USERPROFILE", home), ("SYSTEMROOT", &root)];
        let (shell, args) = script("echo > here; exit 5", "echo x>here&exit 5");
        let mut child = start(shell, &args, &environment(System::HERE, &given)).unwrap();
        assert_eq!(child.wait().await.unwrap().code(), Some(5));
        assert!(folder.path().join("here").exists());
    }

    #[test]
    fn a_missing_program_is_an_error() {
        assert!(start("no such program", &[], &environment(System::HERE, &[])).is_err());
    }
}
