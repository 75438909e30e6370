//! A process as a file that becomes readable when it ends.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::ioctl::{self, Opcode, opcode};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::unix::AsyncFd;
use tokio::time::sleep;

use crate::process::child::Exit;

#[derive(Debug)]
pub(super) struct Process {
    file: AsyncFd<OwnedFd>,
}

impl Process {
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(io::ErrorKind::NotFound)?;
        let file = pidfd_open(pid, PidfdFlags::NONBLOCK)?;
        #[expect(unsafe_code, reason = "who registers a file must keep it open")]
        // SAFETY: the file is owned, and stays open for as long as it is registered.
        let file = unsafe { AsyncFd::register(file) }?;
        Ok(Self { file })
    }

    pub(super) async fn ended(&self) {
        // It stays readable, so that everybody who waits is told.
        let _ = self.file.readable().await;
    }

    pub(super) async fn how(&self) -> Exit {
        self.ended().await;
        for _ in 0..LOOKS {
            match exit(self.file.get_ref()) {
                Told::Exit(exit) => return exit,
                Told::NotYet => sleep(LOOK).await,
                Told::Never => break,
            }
        }
        Exit::Untold
    }

    pub(super) fn end(&self, by_force: bool) -> io::Result<()> {
        let signal = if by_force { Signal::KILL } else { Signal::TERM };
        pidfd_send_signal(self.file.get_ref(), signal)?;
        if !by_force {
            // One that is stopped must run to hear it.
            let _ = pidfd_send_signal(self.file.get_ref(), Signal::CONT);
        }
        Ok(())
    }
}

/// The kernel tells how a process ended once its parent has asked, which is soon.
const LOOK: Duration = Duration::from_millis(5);
const LOOKS: u32 = 100;

enum Told {
    Exit(Exit),
    NotYet,
    /// This kernel does not tell.
    Never,
}

/// `struct pidfd_info` in its first form, which every kernel that has it accepts.
#[repr(C)]
#[derive(Default)]
struct Info {
    mask: u64,
    cgroup: u64,
    /// Process, group and parent, then eight ids of persons and groups: not needed.
    ids: [u32; 11],
    exit: i32,
}

/// "Tell how it ended"; set in the answer if it does.
const WITH_EXIT: u64 = 1 << 3;
const GET_INFO: Opcode = opcode::read_write::<Info>(0xff, 11);

fn exit(file: &OwnedFd) -> Told {
    let mut info = Info { mask: WITH_EXIT, ..Info::default() };
    #[expect(unsafe_code, reason = "no library has this question yet")]
    // SAFETY: the opcode is that of PIDFD_GET_INFO for a value of this size and layout.
    let asked = unsafe { ioctl::ioctl(file, ioctl::Updater::<GET_INFO, Info>::new(&mut info)) };
    match asked {
        Ok(()) if info.mask & WITH_EXIT != 0 => Told::Exit(read(info.exit)),
        Ok(()) => Told::NotYet,
        // It has ended, and its parent has not asked.
        Err(rustix::io::Errno::SRCH) => Told::NotYet,
        Err(_) => Told::Never,
    }
}

/// The status as `wait` gives it: a signal in the low bits, or a code above them.
fn read(status: i32) -> Exit {
    match status & 0x7f {
        0 => Exit::Code(status >> 8 & 0xff),
        signal => Exit::Signal(signal),
    }
}
