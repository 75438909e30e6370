//! A fake stdio upstream: its configuration entry, and its processes.

use std::path::PathBuf;

use crate::oracle::ledger::Ledger;
use crate::scene::entry;
use crate::scene::programs::built;
use crate::scene::wait::until;

/// A program that speaks MCP over stdio.
pub struct Program {
    pub name: String,
    pub ledger: Ledger,
    ways: Vec<String>,
}

impl Program {
    pub fn new(name: &str, ledger: PathBuf, ways: &[&str]) -> Self {
        let ways = ways.iter().map(|way| (*way).to_owned()).collect();
        Self { name: name.to_owned(), ledger: Ledger::at(ledger), ways }
    }

    /// Its configuration entry.
    pub fn entry(&self) -> String {
        let mut args = vec![self.ledger.path().to_str().expect("a path is text").to_owned()];
        args.extend(self.ways.iter().cloned());
        entry::program(&self.name, &built("fake-stdio"), &args)
    }

    /// The id of its process with this number, counted from 1, once it has started.
    pub async fn instance(&self, number: usize) -> u32 {
        self.noted("lives", number).await
    }

    /// The child started by its process with this number.
    pub async fn kin(&self, number: usize) -> u32 {
        self.noted("kin", number).await
    }

    /// How often it was started.
    pub fn starts(&self) -> usize {
        self.notes("lives").len()
    }

    /// Waits until it has executed a call.
    pub async fn until_executed(&self, nonce: &str) {
        self.until_executed_times(nonce, 1).await;
    }

    /// Waits until it has executed a call this many times.
    pub async fn until_executed_times(&self, nonce: &str, times: usize) {
        until(&format!("{nonce} is executed"), || self.ledger.executions(nonce) >= times).await;
    }

    async fn noted(&self, kind: &str, number: usize) -> u32 {
        until(&format!("{kind} {number}"), || self.notes(kind).len() >= number).await;
        self.notes(kind)[number - 1]
    }

    fn notes(&self, kind: &str) -> Vec<u32> {
        let file = self.ledger.path().with_extension(kind);
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }
}

/// Waits until a process has exited.
pub async fn until_gone(pid: u32) {
    until(&format!("the end of process {pid}"), || !runs(pid)).await;
}

/// Whether a process runs. A zombie counts as exited once its last thread has ended: until then its
/// pipes are open, and writes to them are lost.
#[cfg(target_os = "linux")]
pub fn runs(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let ended = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    !ended || threads > 1
}

/// Whether a process runs. The system reports no zombies.
#[cfg(not(target_os = "linux"))]
pub fn runs(pid: u32) -> bool {
    evermoor_platform::process::info::of(pid).is_some()
}
