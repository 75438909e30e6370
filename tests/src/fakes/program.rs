//! A fake upstream that the gateway starts itself: its entry in the configuration, and its lives.

use std::path::PathBuf;

use crate::oracle::ledger::Ledger;
use crate::scene::entry;
use crate::scene::programs::built;
use crate::scene::wait::until;

/// A program that speaks MCP over its standard input and output.
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

    /// Its entry in the configuration.
    pub fn entry(&self) -> String {
        let mut args = vec![self.ledger.path().to_str().expect("a path is text").to_owned()];
        args.extend(self.ways.iter().cloned());
        entry::program(&self.name, &built("fake-stdio"), &args)
    }

    /// The process of its life with this number, counted from 1, as soon as there is one.
    pub async fn life(&self, number: usize) -> u32 {
        self.noted("lives", number).await
    }

    /// The process that its life with this number started.
    pub async fn kin(&self, number: usize) -> u32 {
        self.noted("kin", number).await
    }

    /// How often it was started.
    pub fn lives(&self) -> usize {
        self.notes("lives").len()
    }

    /// Waits until it has executed a call.
    pub async fn until_executed(&self, nonce: &str) {
        self.until_executed_times(nonce, 1).await;
    }

    /// Waits until it has executed a call so often.
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

/// Waits until a process runs no more.
pub async fn until_gone(pid: u32) {
    until(&format!("the end of process {pid}"), || !runs(pid)).await;
}

/// Whether a process runs. One that ended and that nobody asked about yet does not, once the last of
/// its threads has: until then its pipes are open, and what is written to them goes nowhere.
pub fn runs(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let ended = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    !ended || threads > 1
}
