//! The binaries under test, and processes that end with the test.
//!
//! None of them sees the home, the desktop, the keychain or the Evermoor of the user who runs the
//! tests.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::PATIENCE;

/// A binary of this workspace, built with the same profile as the tests.
pub fn built(name: &str) -> PathBuf {
    // Tests are in <profile>/deps, other binaries in <profile>.
    let this = std::env::current_exe().expect("this is a program");
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let mut places = this.ancestors().skip(1).take(2).map(|folder| folder.join(&file));
    places.find(|program| program.exists()).unwrap_or_else(|| {
        panic!("{name} is missing near {}: run `cargo build --workspace --bins`", this.display())
    })
}

/// The environment variables that programs inherit from the tests.
const KEPT: [&str; 10] = [
    "PATH",
    "LANG",
    "TMPDIR",
    "EVERMOOR_LOG",
    "RUST_BACKTRACE",
    "LLVM_PROFILE_FILE",
    "SYSTEMROOT",
    "PATHEXT",
    "TEMP",
    "TMP",
];
/// Without `HOME`, a program uses the account's home. Nothing can be read or written in this one.
const NO_HOME: &str = "/dev/null";
/// Without an address, a program looks for the session bus itself. Nothing answers at this one.
const NO_BUS: &str = "unix:path=/dev/null";

/// A command without the environment of the user who runs the tests.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = evermoor_platform::process::spawn::command(program);
    isolate(&mut command);
    command
}

/// Removes the environment of the tests from a command.
pub(crate) fn isolate(command: &mut Command) {
    command.env_clear().env("HOME", NO_HOME).env("DBUS_SESSION_BUS_ADDRESS", NO_BUS);
    let kept = |name: &OsStr| match cfg!(windows) {
        true => KEPT.iter().any(|kept| name.eq_ignore_ascii_case(kept)),
        false => KEPT.iter().any(|kept| name == *kept),
    };
    command.envs(std::env::vars_os().filter(|(name, _)| kept(name)));
}

/// The variables that name the home folder of a user.
pub fn home_variables(person: &Path) -> Vec<(&'static str, PathBuf)> {
    match cfg!(windows) {
        true => vec![
            ("USERPROFILE", person.to_owned()),
            ("APPDATA", person.join("AppData/Roaming")),
            ("LOCALAPPDATA", person.join("AppData/Local")),
        ],
        false => vec![("HOME", person.to_owned())],
    }
}

/// `evermoor`, run as the user whose Evermoor is in `home`.
pub fn evermoor(home: &Path) -> Command {
    let mut command = command(built("evermoor"));
    command.env("EVERMOOR_HOME", home).envs(home_variables(&person(home))).kill_on_drop(true);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The home folder of the user whose Evermoor is in `home`.
pub fn person(home: &Path) -> PathBuf {
    home.with_file_name("person")
}

/// A process that ends with the test. Its output is buffered, so it never blocks on its reader.
pub struct Process {
    pub child: Child,
    lines: mpsc::UnboundedReceiver<String>,
}

impl Process {
    pub fn start(program: &Path, prepare: impl FnOnce(&mut Command)) -> Self {
        Self::spawn(command(program), prepare)
    }

    /// Starts `evermoor` as the user whose Evermoor is in `home`.
    pub fn evermoor(home: &Path, prepare: impl FnOnce(&mut Command)) -> Self {
        Self::spawn(evermoor(home), prepare)
    }

    fn spawn(mut command: Command, prepare: impl FnOnce(&mut Command)) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        prepare(&mut command);
        let mut child = command.spawn().unwrap_or_else(|error| {
            panic!("{} does not start: {error}", command.as_std().get_program().display())
        });
        let output = child.stdout.take().expect("standard output was piped");
        let (send, lines) = mpsc::unbounded_channel();
        #[expect(clippy::disallowed_methods, reason = "ends with the output of the process")]
        drop(tokio::spawn(read_lines(output, send)));
        Self { child, lines }
    }

    /// The next line of its output.
    pub async fn line(&mut self) -> String {
        let line = timeout(PATIENCE, self.lines.recv()).await;
        line.expect("it prints a line in time").expect("it has not ended")
    }

    /// The next line of its output that contains `part`.
    pub async fn line_with(&mut self, part: &str) -> String {
        loop {
            let line = self.line().await;
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Kills it.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("it can be killed");
    }

    pub async fn ended(&mut self) -> std::process::ExitStatus {
        let ended = timeout(PATIENCE, self.child.wait()).await;
        ended.expect("it ends in time").expect("its end can be waited for")
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_none()
    }

    pub fn pid(&self) -> u32 {
        self.child.id().expect("it has not ended")
    }
}

async fn read_lines(output: ChildStdout, lines: mpsc::UnboundedSender<String>) {
    let mut output = BufReader::new(output).lines();
    while let Ok(Some(line)) = output.next_line().await {
        if lines.send(line).is_err() {
            return;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_sees_nothing_of_the_person_who_runs_the_tests() {
        let output = command("env").stdout(Stdio::piped()).output().await.unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let names: Vec<&str> =
            said.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        let ours = [&["HOME", "DBUS_SESSION_BUS_ADDRESS"], &KEPT[..]].concat();
        assert!(names.iter().all(|name| ours.contains(name)), "{said}");
        assert!(said.contains("HOME=/dev/null\n"), "{said}");
    }
}
