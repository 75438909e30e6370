//! Creates commands, starts programs that outlive this process, and becomes another program.
//!
//! This is the only module that creates a command: every child gets its own process group, so that its
//! whole tree can be killed, and no console window appears on Windows. The programs of upstreams need
//! more than that; [`crate::process::child`] starts them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};

use crate::process::child::environment::CHILD_MARKER;

/// A command in its own process group, without a console window. Standard input, output and error are
/// null unless the caller sets them.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = without_stdio(program.as_ref());
    own_group(&mut command);
    command
}

/// A command that uses this terminal until it exits, such as the user's text editor.
#[expect(clippy::disallowed_methods, reason = "the rule points to this module")]
pub fn foreground_command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// A command in its own session: without a terminal, it cannot prompt or be stopped by one.
pub(crate) fn session_command(program: impl AsRef<OsStr>) -> Command {
    let mut command = without_stdio(program.as_ref());
    own_session(&mut command);
    command
}

/// A log file larger than this is truncated before the next start.
const MAX_OUTPUT: u64 = 1 << 20;

/// Starts a program that outlives this process. Its output is appended to `log`.
pub fn start_detached(program: &Path, args: &[&OsStr], log: &Path) -> io::Result<Child> {
    crate::fs::private::create_private(log)?;
    let log = std::fs::File::options().append(true).open(log)?;
    if log.metadata()?.len() > MAX_OUTPUT {
        log.set_len(0)?;
    }
    let mut command = without_stdio(program.as_os_str());
    // It is not a child of an upstream, even if this process is.
    command.args(args).env_remove(CHILD_MARKER).stdout(log.try_clone()?).stderr(log);
    own_session(&mut command);
    command.spawn()
}

/// Becomes another program, with the same process id and standard input, output and error. Returns only if
/// that is not possible.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the rule points to this module")]
pub fn become_program(program: &Path, args: &[OsString]) -> io::Error {
    use std::os::unix::process::CommandExt as _;
    std::process::Command::new(program).args(args).exec()
}

/// A process cannot become another program on Windows.
#[cfg(windows)]
pub fn become_program(_: &Path, _: &[OsString]) -> io::Error {
    io::ErrorKind::Unsupported.into()
}

/// The path of a program that is installed beside this one.
pub fn beside_this_program(name: &str) -> io::Result<PathBuf> {
    Ok(beside(&std::env::current_exe()?, name))
}

/// macOS reports the path by which a program was started, which may be a link to it.
fn beside(program: &Path, name: &str) -> PathBuf {
    program.canonicalize().as_deref().unwrap_or(program).with_file_name(name)
}

#[expect(clippy::disallowed_methods, reason = "the rule points to this module")]
fn without_stdio(program: &OsStr) -> Command {
    crate::process::descriptors::keep_stdio_from_children();
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    crate::process::protect::unprotect(&mut command);
    command
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// Leaves the session of the terminal, so that closing the terminal does not end it.
#[cfg(unix)]
#[expect(unsafe_code, reason = "setsid must run between fork and exec")]
fn own_session(command: &mut Command) {
    // SAFETY: setsid is async-signal-safe and the closure does nothing else.
    unsafe {
        command.pre_exec(|| rustix::process::setsid().map(drop).map_err(io::Error::from));
    }
}

#[cfg(windows)]
fn own_group(command: &mut Command) {
    use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW};
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
}

/// Windows has no sessions; its own group keeps Ctrl-C away.
#[cfg(windows)]
fn own_session(command: &mut Command) {
    own_group(command);
}

/// Kills a process group.
#[cfg(unix)]
pub fn kill_group(leader: u32) -> io::Result<()> {
    let leader = pid(leader)?;
    rustix::process::kill_process_group(leader, rustix::process::Signal::KILL)
        .map_err(io::Error::from)
}

/// Kills one process.
#[cfg(unix)]
pub fn kill(process: u32) -> io::Result<()> {
    let process = pid(process)?;
    rustix::process::kill_process(process, rustix::process::Signal::KILL).map_err(io::Error::from)
}

#[cfg(unix)]
fn pid(process: u32) -> io::Result<rustix::process::Pid> {
    let pid = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    pid.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
}

/// Windows has no process groups; [`crate::process::child`] uses job objects.
#[cfg(windows)]
pub fn kill_group(leader: u32) -> io::Result<()> {
    kill(leader)
}

/// Kills one process.
#[cfg(windows)]
#[expect(unsafe_code, reason = "calls the Win32 API")]
pub fn kill(process: u32) -> io::Result<()> {
    use windows_sys::Win32::Foundation::CloseHandle;
    use windows_sys::Win32::System::Threading::{OpenProcess, PROCESS_TERMINATE, TerminateProcess};
    // SAFETY: the handle is checked before use and closed once.
    unsafe {
        let handle = OpenProcess(PROCESS_TERMINATE, 0, process);
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        let ended = TerminateProcess(handle, 1);
        let error = io::Error::last_os_error();
        CloseHandle(handle);
        if ended == 0 { Err(error) } else { Ok(()) }
    }
}

/// Whether a process is the first one of its session.
#[cfg(all(test, unix))]
pub(crate) fn leads_its_session(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::getsid(Some(pid)) == Ok(pid))
}

/// The program and the arguments that run a script in the shell of this system. The one for Windows
/// must not contain quotes; `!name!` is the value of a variable.
#[cfg(test)]
pub(crate) fn script(unix: &str, windows: &str) -> (&'static str, Vec<String>) {
    let owned = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect();
    match cfg!(windows) {
        true => ("cmd", owned(&["/v:on", "/c", windows])),
        false => ("sh", owned(&["-c", unix])),
    }
}

/// A script that runs a second process until its input is closed, and on Unix for ten minutes. That one
/// prints a line when it runs.
#[cfg(test)]
pub(crate) fn with_grandchild() -> (&'static str, Vec<String>) {
    script("sh -c 'echo started; exec sleep 600'; true", "cmd /c echo started^& set /p x=")
}

/// One process that runs for ten minutes.
#[cfg(test)]
pub(crate) fn endless() -> (&'static str, Vec<String>) {
    let owned = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect();
    match cfg!(windows) {
        true => ("ping", owned(&["-n", "600", "127.0.0.1"])),
        false => ("sleep", owned(&["600"])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncBufReadExt as _, BufReader};

    #[cfg(unix)]
    #[test]
    fn a_program_started_by_a_link_finds_what_is_installed_beside_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let installed = folder.path().canonicalize().unwrap().join("installed");
        std::fs::create_dir(&installed).unwrap();
        let (program, link) = (installed.join("evermoor"), folder.path().join("evermoor"));
        std::fs::write(&program, "").unwrap();
        std::os::unix::fs::symlink(&program, &link).unwrap();
        assert_eq!(beside(&link, "evermoor-shim"), installed.join("evermoor-shim"));
        let gone = Path::new("/gone/evermoor");
        assert_eq!(beside(gone, "evermoor-shim"), Path::new("/gone/evermoor-shim"));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn killing_a_group_kills_grandchildren_too() {
        let (shell, args) = with_grandchild();
        let mut child = command(shell).args(args).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(output.next_line().await.unwrap().as_deref(), Some("started"));
        kill_group(child.id().unwrap()).unwrap();
        child.wait().await.unwrap();
        // The grandchild holds the other end of the pipe while it lives.
        assert_eq!(output.next_line().await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_process_is_killed() {
        let (shell, args) = script("echo ready; exec sleep 600", "echo ready& set /p x=");
        let mut child =
            command(shell).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(output.next_line().await.unwrap().as_deref(), Some("ready"));
        kill(child.id().unwrap()).unwrap();
        assert!(!child.wait().await.unwrap().success());
    }

    #[tokio::test]
    async fn a_detached_program_writes_to_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("logs/x.log");
        let (shell, args) = script("echo started; exec sleep 600", "echo started");
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let mut child = start_detached(Path::new(shell), &args, &log).unwrap();
        #[cfg(unix)]
        assert!(leads_its_session(child.id().unwrap()));
        while std::fs::read_to_string(&log).unwrap().trim_end() != "started" {
            tokio::task::yield_now().await;
        }
        child.kill().await.unwrap();
    }
}
