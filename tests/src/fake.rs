//! A fake upstream: a process that speaks MCP over HTTP, keeps a ledger, and can be killed.

use std::path::PathBuf;

use crate::ledger::Ledger;
use crate::programs::{Process, built};

/// A fake upstream, running or dead.
pub struct Upstream {
    pub name: String,
    pub url: String,
    pub ledger: Ledger,
    process: Process,
}

impl Upstream {
    pub async fn start(name: &str, ledger: PathBuf) -> Self {
        let ledger = Ledger::at(ledger);
        let (process, url) = start(&ledger, "127.0.0.1:0").await;
        Self { name: name.to_owned(), url, ledger, process }
    }

    /// Waits until it has executed a call.
    pub async fn until_executed(&mut self, nonce: &str) {
        self.process.line_with(&format!("executed {nonce}")).await;
    }

    /// Ends it as a crash would.
    pub async fn kill(&mut self) {
        self.process.kill().await;
    }

    /// Leaves somebody at its address, once it is dead, who takes connections and says nothing.
    pub fn replace_by_silence(&self) -> std::net::TcpListener {
        std::net::TcpListener::bind(self.address()).expect("the address is free")
    }

    fn address(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// Starts it again at the address it had. It remembers no session.
    pub async fn start_again(&mut self) {
        let (process, url) = start(&self.ledger, self.address()).await;
        assert_eq!(url, self.url);
        self.process = process;
    }
}

async fn start(ledger: &Ledger, address: &str) -> (Process, String) {
    let mut process = Process::start(&built("fake-upstream"), |command| {
        command.arg(address).arg(ledger.path());
    });
    let url = process.line().await;
    (process, url)
}
