//! Starting programs that outlive us, or that must not.
//!
//! This is the only place that makes a command: every child gets its own group, so that its whole
//! tree can be ended, and no console window flashes on Windows. Upstreams' programs, which need
//! more than that, are started by [`crate::process::child`].

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Stdio;

use tokio::process::{Child, Command};

use crate::process::child::environment::MARKER;

/// A command in a group of its own, without a console window, with nothing on its standard input
/// or output until the caller says otherwise.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = silent(program.as_ref());
    own_group(&mut command);
    command
}

/// A program that takes our terminal until it ends: a person's own editor.
#[expect(clippy::disallowed_methods, reason = "this is the place the rule points to")]
pub fn in_the_foreground(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// A command in a session of its own: without a terminal, it cannot ask anything or be stopped by one.
pub(crate) fn session_command(program: impl AsRef<OsStr>) -> Command {
    let mut command = silent(program.as_ref());
    own_session(&mut command);
    command
}

/// What a program printed that nobody looked at is not kept beyond this.
const LARGEST_OUTPUT: u64 = 1 << 20;

/// Starts a program that goes on when we end. What it prints goes to the end of `log`.
pub fn start_detached(program: &Path, args: &[&OsStr], log: &Path) -> io::Result<Child> {
    crate::fs::private::create_private(log)?;
    let log = std::fs::File::options().append(true).open(log)?;
    if log.metadata()?.len() > LARGEST_OUTPUT {
        log.set_len(0)?;
    }
    let mut command = silent(program.as_os_str());
    // It is nobody's child any more, whoever started it.
    command.args(args).env_remove(MARKER).stdout(log.try_clone()?).stderr(log);
    own_session(&mut command);
    command.spawn()
}

#[expect(clippy::disallowed_methods, reason = "this is the place the rule points to")]
fn silent(program: &OsStr) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// Leaves the terminal's session, so that closing the terminal does not end it.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a new session can only be made between fork and exec")]
fn own_session(command: &mut Command) {
    // SAFETY: setsid is async-signal-safe and the closure touches nothing else.
    unsafe {
        command.pre_exec(|| rustix::process::setsid().map(drop).map_err(io::Error::from));
    }
}

#[cfg(windows)]
fn own_group(command: &mut Command) {
    use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW};
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
}

/// Windows knows no sessions; a group of its own is what keeps Ctrl-C away.
#[cfg(windows)]
fn own_session(command: &mut Command) {
    own_group(command);
}

/// Ends a whole group of processes at once.
#[cfg(unix)]
pub fn kill_group(leader: u32) -> io::Result<()> {
    let leader = pid(leader)?;
    rustix::process::kill_process_group(leader, rustix::process::Signal::KILL)
        .map_err(io::Error::from)
}

/// Ends one process at once, without asking it.
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

/// Windows knows no groups; a tree that must be ended as a whole is a job ([`crate::process::child`]).
#[cfg(windows)]
pub fn kill_group(leader: u32) -> io::Result<()> {
    kill(leader)
}

/// Ends one process at once, without asking it.
#[cfg(windows)]
#[expect(unsafe_code, reason = "a process is ended through a handle")]
pub fn kill(process: u32) -> io::Result<()> {
    use windows_sys::Win32::Foundation::CloseHandle;
    use windows_sys::Win32::System::Threading::{OpenProcess, PROCESS_TERMINATE, TerminateProcess};
    // SAFETY: the handle is checked before it is used, and closed exactly once.
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use tokio::io::{AsyncBufReadExt as _, BufReader};

    #[tokio::test]
    async fn killing_a_group_ends_the_grandchildren_too() {
        let mut child = command("sh")
            .args(["-c", "sleep 600 & echo started; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(output.next_line().await.unwrap().as_deref(), Some("started"));
        kill_group(child.id().unwrap()).unwrap();
        child.wait().await.unwrap();
        // The grandchild holds the other end of the pipe for as long as it lives.
        assert_eq!(output.next_line().await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_detached_program_leads_its_own_session_and_writes_to_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("logs/x.log");
        let args = ["-c", "echo session $(ps -o sid= -p $$) pid $$"].map(OsStr::new);
        start_detached(Path::new("/bin/sh"), &args, &log).unwrap().wait().await.unwrap();
        let said = std::fs::read_to_string(&log).unwrap();
        let words: Vec<&str> = said.split_whitespace().collect();
        assert_eq!(words[1], words[3], "{said}");
    }
}
