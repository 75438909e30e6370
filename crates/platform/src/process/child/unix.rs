//! Process groups.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, Command};

use super::program::Kind;

/// Linux sends the signal of a parent's death when the thread that started the child ends.
pub(super) const THREAD_MUST_LIVE: bool = cfg!(target_os = "linux");

/// The processes of one group, known by the process that leads it.
#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
}

impl Group {
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        let leader = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        leader.map(|leader| Self { leader }).ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    /// Asks every process to end, and wakes the ones that are stopped so that they hear it.
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

/// The group itself is made for every command.
#[cfg(not(target_os = "linux"))]
pub(super) fn prepare(_: &mut Command) {}

/// A gateway that is killed takes the heads of its trees with it. They are asked, not killed, so
/// that launchers such as `npx` pass it on.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the signal can only be chosen between fork and exec")]
pub(super) fn prepare(command: &mut Command) {
    use rustix::process::{getpid, getppid, set_parent_process_death_signal};
    let parent = getpid();
    let choose = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // Who died before the signal was chosen will not send it.
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

pub(super) fn kind(path: &Path) -> Kind {
    let may_run = |data: &Metadata| data.is_file() && data.permissions().mode() & 0o111 != 0;
    match std::fs::metadata(path) {
        Ok(data) if may_run(&data) => Kind::Program,
        Ok(_) => Kind::NoProgram,
        Err(_) => Kind::Nothing,
    }
}
