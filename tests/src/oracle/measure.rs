//! What a process uses, as Linux tells it. Elsewhere nothing is known.

use std::time::Duration;

/// Its share of the memory, in KiB.
pub fn memory(pid: u32) -> Option<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find(|line| line.starts_with("Pss:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// How long it has used a processor.
pub fn busy(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // A tick is a hundredth of a second wherever Linux runs today.
    Some(Duration::from_millis(10 * ticks))
}
