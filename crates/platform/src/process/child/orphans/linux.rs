//! Finds orphans in `/proc`.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::time::{Instant, sleep};

use super::super::environment::CHILD_MARKER;
use super::{ChildMark, ProcessStat};

/// How long an orphan may take to exit after it was asked to.
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A process and its pidfd, which stays valid if the process id is reused.
struct Orphan {
    pid: u32,
    since: u64,
    handle: OwnedFd,
}

pub(super) fn stat(pid: u32) -> Option<ProcessStat> {
    ProcessStat::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

pub(super) async fn end() -> usize {
    let mut orphans = tokio::task::spawn_blocking(find).await.unwrap_or_default();
    let found = orphans.len();
    for orphan in &orphans {
        let _ = pidfd_send_signal(&orphan.handle, Signal::TERM);
        let _ = pidfd_send_signal(&orphan.handle, Signal::CONT);
    }
    let deadline = Instant::now() + TERMINATE_TIMEOUT;
    while !orphans.is_empty() && Instant::now() < deadline {
        sleep(POLL_INTERVAL).await;
        orphans.retain(Orphan::is_running);
    }
    for orphan in &orphans {
        let _ = pidfd_send_signal(&orphan.handle, Signal::KILL);
    }
    found
}

fn find() -> Vec<Orphan> {
    let excluded = ancestors();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|pid| !excluded.contains(pid)).filter_map(orphan).collect()
}

/// Opens the process before inspecting it, so that the inspected process is the one that is ended.
fn orphan(pid: u32) -> Option<Orphan> {
    // Fails for processes of other users and for those without a mark.
    mark(pid)?;
    let handle = pidfd_open(Pid::from_raw(i32::try_from(pid).ok()?)?, PidfdFlags::empty()).ok()?;
    let (process, mark) = (stat(pid)?, mark(pid)?);
    mark.is_orphan(process, stat).then_some(Orphan { pid, since: process.since, handle })
}

fn mark(pid: u32) -> Option<ChildMark> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let parse = |entry: &[u8]| {
        let value = entry.strip_prefix(CHILD_MARKER.as_bytes())?.strip_prefix(b"=")?;
        ChildMark::parse(std::str::from_utf8(value).ok()?)
    };
    environment.split(|byte| *byte == 0).find_map(parse)
}

/// This process and its ancestors.
fn ancestors() -> Vec<u32> {
    let mut line = vec![std::process::id()];
    while let Some(parent) = line.last().and_then(|pid| stat(*pid)).map(|stat| stat.parent) {
        if parent == 0 || line.contains(&parent) {
            break;
        }
        line.push(parent);
    }
    line
}

impl Orphan {
    fn is_running(&self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.since == self.since && !stat.exited)
    }
}
