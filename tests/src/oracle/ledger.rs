//! The record of executions: one line each, written before the reply is sent.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The executions of a fake upstream. The ledger outlives the upstream.
#[derive(Clone, Debug)]
pub struct Ledger {
    path: PathBuf,
}

impl Ledger {
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn record(&self, nonce: &str) {
        let mut file = std::fs::File::options()
            .create(true)
            .append(true)
            .open(&self.path)
            .expect("the ledger can be written");
        file.write_all(format!("{nonce}\n").as_bytes()).expect("the ledger can be written");
    }

    /// Lets a call of `wait` end.
    pub fn release(&self, nonce: &str) {
        self.record(&format!("released {nonce}"));
    }

    pub fn is_released(&self, nonce: &str) -> bool {
        self.executions(&format!("released {nonce}")) > 0
    }

    /// How often a call was executed.
    pub fn executions(&self, nonce: &str) -> usize {
        let lines = std::fs::read_to_string(&self.path).unwrap_or_default();
        lines.lines().filter(|line| *line == nonce).count()
    }

    /// Waits until a call is being executed.
    pub async fn until_executed(&self, nonce: &str) {
        crate::scene::wait::until(nonce, || self.executions(nonce) > 0).await;
    }

    /// How often each call was executed.
    pub fn all(&self) -> HashMap<String, usize> {
        let lines = std::fs::read_to_string(&self.path).unwrap_or_default();
        let mut all = HashMap::new();
        for line in lines.lines() {
            *all.entry(line.to_owned()).or_default() += 1;
        }
        all
    }
}
