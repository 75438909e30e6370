//! Process groups on Unix.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, Command};

use super::program::PathKind;

/// Linux sends the parent death signal when the thread that started the child exits.
pub(super) const THREAD_MUST_LIVE: bool = cfg!(target_os = "linux");

/// A process group, identified by its leader.
#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
}

impl Group {
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        let leader = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        leader.map(|leader| Self { leader }).ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    /// Asks every process to exit, and resumes stopped ones so that they handle the signal.
    pub(super) fn ask(&self) -> bool {
        let asked = kill_process_group(self.leader, Signal::TERM);
        let _ = kill_process_group(self.leader, Signal::CONT);
        asked.is_ok()
    }

    pub(super) fn kill(&self) {
        let _ = kill_process_group(self.leader, Signal::KILL);
    }

    pub(super) fn is_empty(&self) -> bool {
        test_kill_process_group(self.leader).is_err()
    }
}

/// Every command already has its own group.
#[cfg(not(target_os = "linux"))]
pub(super) fn prepare(_: &mut Command) {}

/// When the gateway is killed, the root of each tree gets SIGTERM, not SIGKILL, so that launchers such
/// as `npx` pass it on.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the signal must be set between fork and exec")]
pub(super) fn prepare(command: &mut Command) {
    use rustix::process::{getpid, getppid, set_parent_process_death_signal};
    let parent = getpid();
    let choose = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // If the parent died before this call, the signal will not be sent.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: the closure makes two system calls and neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(choose);
    }
}

pub(super) fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

pub(super) fn kind(path: &Path) -> PathKind {
    let may_run = |data: &Metadata| data.is_file() && data.permissions().mode() & 0o111 != 0;
    match std::fs::metadata(path) {
        Ok(data) if may_run(&data) => PathKind::Program,
        Ok(_) => PathKind::NotExecutable,
        Err(_) => PathKind::Nothing,
    }
}
