//! A pidfd, which becomes readable when the process exits.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::ioctl::{self, Opcode, opcode};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::unix::AsyncFd;
use tokio::time::sleep;

use crate::process::child::ProcessExit;

#[derive(Debug)]
pub(super) struct WatchedProcess {
    file: AsyncFd<OwnedFd>,
}

impl WatchedProcess {
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(io::ErrorKind::NotFound)?;
        let file = pidfd_open(pid, PidfdFlags::NONBLOCK)?;
        #[expect(unsafe_code, reason = "the caller must keep the file open")]
        // SAFETY: the file is owned and stays open while it is registered.
        let file = unsafe { AsyncFd::register(file) }?;
        Ok(Self { file })
    }

    pub(super) async fn ended(&self) {
        // It stays readable, so every waiter is woken.
        let _ = self.file.readable().await;
    }

    pub(super) async fn how(&self) -> ProcessExit {
        self.ended().await;
        for _ in 0..MAX_POLLS {
            match exit(self.file.get_ref()) {
                ExitQuery::Exit(exit) => return exit,
                ExitQuery::NotYet => sleep(POLL_INTERVAL).await,
                ExitQuery::Unsupported => break,
            }
        }
        ProcessExit::Unknown
    }

    pub(super) fn end(&self, by_force: bool) -> io::Result<()> {
        let signal = if by_force { Signal::KILL } else { Signal::TERM };
        pidfd_send_signal(self.file.get_ref(), signal)?;
        if !by_force {
            // A stopped process handles the signal only when it runs.
            let _ = pidfd_send_signal(self.file.get_ref(), Signal::CONT);
        }
        Ok(())
    }
}

/// The kernel reports the exit reason once the parent has reaped the process, which is soon.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
const MAX_POLLS: u32 = 100;

enum ExitQuery {
    Exit(ProcessExit),
    NotYet,
    /// This kernel does not report it.
    Unsupported,
}

/// `struct pidfd_info` in its first form, which every kernel that has it accepts.
#[repr(C)]
#[derive(Default)]
struct Info {
    mask: u64,
    cgroup: u64,
    /// Process, group and parent id, then eight user and group ids.
    ids: [u32; 11],
    exit: i32,
}

/// Requests the exit status; set in the reply if it is there.
const WITH_EXIT: u64 = 1 << 3;
const GET_INFO: Opcode = opcode::read_write::<Info>(0xff, 11);

fn exit(file: &OwnedFd) -> ExitQuery {
    let mut info = Info { mask: WITH_EXIT, ..Info::default() };
    #[expect(unsafe_code, reason = "no library wraps this ioctl yet")]
    // SAFETY: the opcode is that of PIDFD_GET_INFO for a value of this size and layout.
    let asked = unsafe { ioctl::ioctl(file, ioctl::Updater::<GET_INFO, Info>::new(&mut info)) };
    match asked {
        Ok(()) if info.mask & WITH_EXIT != 0 => ExitQuery::Exit(read(info.exit)),
        Ok(()) => ExitQuery::NotYet,
        // It has exited, and its parent has not reaped it.
        Err(rustix::io::Errno::SRCH) => ExitQuery::NotYet,
        Err(_) => ExitQuery::Unsupported,
    }
}

/// Decodes a `wait` status: a signal in the low bits, or a code above them.
fn read(status: i32) -> ProcessExit {
    match status & 0x7f {
        0 => ProcessExit::Code(status >> 8 & 0xff),
        signal => ProcessExit::Signal(signal),
    }
}
