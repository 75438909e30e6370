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

/// The CPU time of the first thread of a process. Waiting for a processor does not count.
pub fn first_thread(pid: u32) -> Option<Duration> {
    Some(scheduled(&format!("/proc/{pid}/task/{pid}/schedstat"))?.0)
}

/// How long this thread has waited for a processor.
pub(super) fn own_delay() -> Option<Duration> {
    Some(scheduled("/proc/thread-self/schedstat")?.1)
}

/// How long a thread ran, and how long it waited for a processor.
fn scheduled(path: &str) -> Option<(Duration, Duration)> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut times = text.split_whitespace().map(str::parse).map_while(Result::ok);
    Some((Duration::from_nanos(times.next()?), Duration::from_nanos(times.next()?)))
}
