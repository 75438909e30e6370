//! Reads processes from `/proc`.

use std::fs;
use std::time::Duration;

use rustix::param::{clock_ticks_per_second, page_size};

use super::{ProcessInfo, ProcessUsage};

pub(super) fn of(pid: u32) -> Option<ProcessInfo> {
    let stat = Stat::of(pid).filter(|stat| !stat.exited)?;
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    let executable = fs::read_link(format!("/proc/{pid}/exe")).ok();
    Some(ProcessInfo {
        pid,
        started: stat.started,
        age: Duration::try_from_secs_f64(uptime).ok()?.saturating_sub(time(stat.started)),
        name: name(pid)?,
        executable,
    })
}

pub(super) fn usage(pid: u32) -> Option<ProcessUsage> {
    let stat = Stat::of(pid).filter(|stat| !stat.exited)?;
    // The second number is the count of resident pages.
    let pages = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = pages.split_whitespace().nth(1)?.parse().ok()?;
    Some(ProcessUsage { memory: pages * page_size() as u64, processor: time(stat.spent) })
}

pub(super) fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

pub(super) fn name(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end_matches('\n').to_owned())
}

pub(super) fn is_stopped(pid: u32) -> bool {
    Stat::of(pid).is_some_and(|stat| stat.stopped)
}

/// The process group that a process belongs to.
pub(super) fn group(pid: u32) -> Option<u32> {
    Stat::of(pid)?.group.try_into().ok()
}

struct Stat {
    /// It has exited and is not reaped yet.
    exited: bool,
    /// A signal or a debugger has stopped it.
    stopped: bool,
    group: u64,
    spent: u64,
    started: u64,
}

impl Stat {
    fn of(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Parses `/proc/PID/stat`. The name in it may contain any character.
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok());
        Some(Self {
            exited: matches!(*fields.first()?, "Z" | "X"),
            stopped: matches!(*fields.first()?, "T" | "t"),
            group: number(2)?,
            spent: number(11)? + number(12)?,
            started: number(19)?,
        })
    }
}

/// Converts clock ticks.
fn time(ticks: u64) -> Duration {
    let per_second = clock_ticks_per_second().max(1);
    Duration::from_millis(ticks.saturating_mul(1000) / per_second)
}
