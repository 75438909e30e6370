//! Resource usage of a process on Linux; `None` on other systems.

use std::time::Duration;

/// Proportional memory, in KiB.
pub fn memory(pid: u32) -> Option<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find(|line| line.starts_with("Pss:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Open descriptors, and proportional memory in KiB.
pub fn resources(pid: u32) -> Option<(usize, u64)> {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
    Some((open, memory(pid)?))
}

/// CPU time.
pub fn busy(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // A tick is 10 ms on every current Linux.
    Some(Duration::from_millis(10 * ticks))
}
