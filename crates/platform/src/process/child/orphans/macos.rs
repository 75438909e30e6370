//! Finds orphans with `libproc` and `sysctl`. macOS has nothing like a pidfd, so each process is identified
//! again, by its start time, before a signal is sent.

use std::mem::{MaybeUninit, size_of};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, getppid, getsid, kill_process};
use tokio::time::{Instant, sleep};

use super::super::environment::CHILD_MARKER;
use super::procargs::variable;
use super::{ChildMark, ProcessStat};
use crate::process::info;

/// How long an orphan may take to exit after it was asked to.
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// More ancestors than this are not looked at.
const MOST_ANCESTORS: usize = 64;

#[derive(Clone, Copy)]
struct Orphan {
    pid: u32,
    since: u64,
}

pub(super) fn stat(pid: u32) -> Option<ProcessStat> {
    let found = info::identity(pid)?;
    let session = getsid(Some(id(pid)?)).ok()?;
    Some(ProcessStat {
        parent: found.parent,
        session: u32::try_from(session.as_raw_nonzero().get()).ok()?,
        since: found.started,
        exited: found.exited,
    })
}

pub(super) async fn end() -> usize {
    let mut orphans = tokio::task::spawn_blocking(find).await.unwrap_or_default();
    let found = orphans.len();
    for orphan in &orphans {
        orphan.signal(Signal::TERM);
        orphan.signal(Signal::CONT);
    }
    let deadline = Instant::now() + TERMINATE_TIMEOUT;
    while !orphans.is_empty() && Instant::now() < deadline {
        sleep(POLL_INTERVAL).await;
        orphans.retain(Orphan::is_running);
    }
    orphans.iter().for_each(|orphan| orphan.signal(Signal::KILL));
    found
}

fn find() -> Vec<Orphan> {
    let excluded = ancestors();
    let pids = info::all().into_iter().filter(|pid| !excluded.contains(pid));
    pids.filter_map(orphan).collect()
}

fn orphan(pid: u32) -> Option<Orphan> {
    // Fails for processes of other users and for those without a mark.
    let mark = ChildMark::parse(&variable(&arguments(pid)?, CHILD_MARKER)?)?;
    let process = stat(pid)?;
    mark.is_orphan(process, stat).then_some(Orphan { pid, since: process.since })
}

/// This process and the ones that started it.
fn ancestors() -> Vec<u32> {
    let mut found = Vec::new();
    let mut next = u32::try_from(getpid().as_raw_nonzero().get()).ok();
    while let Some(pid) = next.filter(|pid| *pid > 1 && found.len() < MOST_ANCESTORS) {
        found.push(pid);
        next = stat(pid).map(|stat| stat.parent);
    }
    found.extend(getppid().and_then(|parent| u32::try_from(parent.as_raw_nonzero().get()).ok()));
    found
}

impl Orphan {
    fn is_running(&self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.since == self.since && !stat.exited)
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = id(self.pid).filter(|_| self.is_running()) {
            let _ = kill_process(pid, signal);
        }
    }
}

fn id(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// The arguments and the environment of a process, as the kernel keeps them.
fn arguments(pid: u32) -> Option<Vec<u8>> {
    let mut buffer = vec![0_u8; largest_arguments()?];
    let mut size = buffer.len();
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, i32::try_from(pid).ok()?];
    #[expect(unsafe_code, reason = "calls the C library")]
    // SAFETY: the name has three parts, and the buffer has the given size.
    let status = unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            3,
            buffer.as_mut_ptr().cast(),
            &raw mut size,
            std::ptr::null_mut(),
            0,
        )
    };
    (status == 0).then(|| {
        buffer.truncate(size);
        buffer
    })
}

/// The size limit of the arguments of a process.
fn largest_arguments() -> Option<usize> {
    let mut limit = MaybeUninit::<libc::c_int>::zeroed();
    let mut size = size_of::<libc::c_int>();
    let mut name = [libc::CTL_KERN, libc::KERN_ARGMAX];
    #[expect(unsafe_code, reason = "calls the C library")]
    // SAFETY: the name has two parts, and the buffer has the given size; zero is a valid value.
    let limit = unsafe {
        let status = libc::sysctl(
            name.as_mut_ptr(),
            2,
            limit.as_mut_ptr().cast(),
            &raw mut size,
            std::ptr::null_mut(),
            0,
        );
        (status == 0).then(|| limit.assume_init())?
    };
    usize::try_from(limit).ok()
}
