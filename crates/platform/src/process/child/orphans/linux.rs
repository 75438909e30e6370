//! Orphans as `/proc` shows them.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::time::{Instant, sleep};

use super::super::environment::MARKER;
use super::{Mark, Stat};

/// How long an orphan may take to end once it was asked.
const NOTICE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);

/// A process in our hand: whatever becomes of its number, no other is meant.
struct Orphan {
    pid: u32,
    since: u64,
    handle: OwnedFd,
}

pub(super) fn stat(pid: u32) -> Option<Stat> {
    Stat::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

pub(super) async fn end() -> usize {
    let mut orphans = tokio::task::spawn_blocking(find).await.unwrap_or_default();
    let found = orphans.len();
    for orphan in &orphans {
        let _ = pidfd_send_signal(&orphan.handle, Signal::TERM);
        let _ = pidfd_send_signal(&orphan.handle, Signal::CONT);
    }
    let deadline = Instant::now() + NOTICE;
    while !orphans.is_empty() && Instant::now() < deadline {
        sleep(LOOK).await;
        orphans.retain(Orphan::runs);
    }
    for orphan in &orphans {
        let _ = pidfd_send_signal(&orphan.handle, Signal::KILL);
    }
    found
}

fn find() -> Vec<Orphan> {
    let spared = ancestry();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|pid| !spared.contains(pid)).filter_map(orphan).collect()
}

/// The process, held before it is looked at, so that what is looked at is what is ended.
fn orphan(pid: u32) -> Option<Orphan> {
    // Another user's cannot be read; most others bear no mark.
    mark(pid)?;
    let handle = pidfd_open(Pid::from_raw(i32::try_from(pid).ok()?)?, PidfdFlags::empty()).ok()?;
    let (process, mark) = (stat(pid)?, mark(pid)?);
    mark.is_left(process, stat).then_some(Orphan { pid, since: process.since, handle })
}

fn mark(pid: u32) -> Option<Mark> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let ours = |entry: &[u8]| {
        let value = entry.strip_prefix(MARKER.as_bytes())?.strip_prefix(b"=")?;
        Mark::parse(std::str::from_utf8(value).ok()?)
    };
    environment.split(|byte| *byte == 0).find_map(ours)
}

/// This process and whoever started it.
fn ancestry() -> Vec<u32> {
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
    fn runs(&self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.since == self.since && !stat.over)
    }
}
