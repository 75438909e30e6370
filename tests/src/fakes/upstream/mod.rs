//! A fake upstream: a process that speaks MCP over HTTP, keeps a ledger, misbehaves on command, and
//! can be frozen and killed.
//!
//! - [`script`]: the orders that a test can give
//! - [`server`]: the process itself, which the `fake-upstream` binary runs
//!
//! Depends on [`scene`](crate::scene), [`oracle`](crate::oracle) and [`gateway`](crate::gateway).

pub mod script;
pub mod server;

use std::path::PathBuf;

use crate::fakes::upstream::script::{Act, Forgotten, Order};
use crate::gateway::http;
use crate::oracle::ledger::Ledger;
use crate::scene::freezing;
use crate::scene::programs::{Process, built};

/// A fake upstream, running or dead.
pub struct Upstream {
    pub name: String,
    pub url: String,
    pub ledger: Ledger,
    process: Process,
    http: reqwest::Client,
}

impl Upstream {
    pub async fn start(name: &str, ledger: PathBuf) -> Self {
        let ledger = Ledger::at(ledger);
        let (process, url) = start(&ledger, "127.0.0.1:0", &[]).await;
        Self { name: name.to_owned(), url, ledger, process, http: http() }
    }

    /// Waits until it has executed a call.
    pub async fn until_executed(&mut self, nonce: &str) {
        self.process.line_with(&format!("executed {nonce}")).await;
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Kills it.
    pub async fn kill(&mut self) {
        self.process.kill().await;
    }

    /// Listens at its address, once it is dead, and never answers.
    pub fn replace_by_silence(&self) -> std::net::TcpListener {
        std::net::TcpListener::bind(self.place()).expect("the address is free")
    }

    /// Starts it again at the same address, without sessions or orders.
    pub async fn start_again(&mut self) {
        self.start_again_with(&[]).await;
    }

    /// Starts it again with additional tools.
    pub async fn start_again_with(&mut self, tools: &[&str]) {
        let address = self.place().to_owned();
        let (process, url) = start(&self.ledger, &address, tools).await;
        assert_eq!(url, self.url);
        self.process = process;
    }

    /// Freezes it. The system still accepts connections and bytes for it.
    pub fn freeze(&self) {
        freezing::freeze(self.process.pid());
    }

    /// Resumes it.
    pub fn thaw(&self) {
        freezing::thaw(self.process.pid());
    }

    /// Treats every request of this method in this way from now on.
    pub async fn always(&self, on: &str, act: Act) {
        self.order(&Order::Do { on: on.to_owned(), times: None, act }).await;
    }

    /// Treats the next `times` requests of this method in this way.
    pub async fn next(&self, times: u32, on: &str, act: Act) {
        self.order(&Order::Do { on: on.to_owned(), times: Some(times), act }).await;
    }

    /// Works normally again.
    pub async fn behave(&self) {
        self.order(&Order::Behave).await;
    }

    /// Offers prompts and resources from now on, and lists everything in pages of this size.
    pub async fn stock(&self, page: usize) {
        self.order(&Order::Stock { page }).await;
    }

    /// Forgets its sessions.
    pub async fn forget(&self, style: Forgotten) {
        self.order(&Order::Forget(style)).await;
    }

    /// How many requests of this method its current process has received.
    pub async fn asked(&self, method: &str) -> u64 {
        let answer = self.http.get(format!("http://{}/counts", self.place())).send().await;
        let body = answer.expect("it answers").bytes().await.expect("the answer is complete");
        let counts: serde_json::Value = serde_json::from_slice(&body).expect("counts are JSON");
        counts[method].as_u64().unwrap_or_default()
    }

    async fn order(&self, order: &Order) {
        let body = serde_json::to_vec(order).expect("an order is JSON");
        let order = self.http.post(format!("http://{}/orders", self.place())).body(body);
        assert!(order.send().await.expect("it answers").status().is_success());
    }

    fn place(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }
}

async fn start(ledger: &Ledger, address: &str, tools: &[&str]) -> (Process, String) {
    let mut process = Process::start(&built("fake-upstream"), |command| {
        command.arg(address).arg(ledger.path()).args(tools);
    });
    let url = process.line().await;
    (process, url)
}
