//! The handle for tests of an upstream that speaks one MCP version.

use evermoor_core::protocol::version::ProtocolVersion;

use crate::Scene;
use crate::oracle::ledger::Ledger;
use crate::scene::entry;
use crate::scene::programs::{Process, built};

/// Its transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FakeTransport {
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE.
    Sse,
    /// Standard input and output: the gateway starts it.
    Stdio,
}

/// An upstream that speaks one MCP version.
pub struct SingleVersionUpstream {
    pub name: String,
    pub ledger: Ledger,
    pub protocol_version: ProtocolVersion,
    pub transport: FakeTransport,
    url: String,
    process: Option<Process>,
}

impl SingleVersionUpstream {
    /// Starts it. Over stdio the gateway starts it, from [`entry`](Self::entry).
    pub async fn start(
        scene: &Scene,
        name: &str,
        protocol_version: ProtocolVersion,
        transport: FakeTransport,
    ) -> Self {
        let ledger = Ledger::at(scene.path(&format!("{name}.ledger")));
        let (url, process) = match transport {
            FakeTransport::Stdio => (String::new(), None),
            FakeTransport::Http | FakeTransport::Sse => {
                let (url, process) =
                    started(protocol_version, transport, &ledger, "127.0.0.1:0").await;
                (url, Some(process))
            }
        };
        Self { name: name.to_owned(), ledger, protocol_version, transport, url, process }
    }

    /// Its URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its configuration entry.
    pub fn entry(&self) -> String {
        match self.transport {
            FakeTransport::Http | FakeTransport::Sse => entry::at(&self.name, &self.url),
            FakeTransport::Stdio => {
                let ledger = self.ledger.path().to_str().expect("a path is text");
                let args = [self.protocol_version.as_str(), "stdio", ledger].map(str::to_owned);
                entry::program(&self.name, &built("single-version-upstream"), &args)
            }
        }
    }

    /// Kills it. Over stdio, kill its process instead, see [`pids`](Self::pids).
    pub async fn kill(&mut self) {
        self.process.as_mut().expect("it was started here").kill().await;
    }

    /// Starts it again at the same address, without its earlier state.
    pub async fn start_again(&mut self) {
        let place = self.url.trim_start_matches("http://").split('/').next().unwrap_or_default();
        let (url, process) =
            started(self.protocol_version, self.transport, &self.ledger, place).await;
        assert_eq!(url, self.url);
        self.process = Some(process);
    }

    /// The ids of its processes so far.
    pub fn pids(&self) -> Vec<u32> {
        let file = self.ledger.path().with_extension("lives");
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }
}

async fn started(
    protocol_version: ProtocolVersion,
    transport: FakeTransport,
    ledger: &Ledger,
    address: &str,
) -> (String, Process) {
    let transport = if transport == FakeTransport::Sse { "sse" } else { "http" };
    let mut process = Process::start(&built("single-version-upstream"), |command| {
        command.args([protocol_version.as_str(), transport]).arg(ledger.path()).arg(address);
    });
    (process.line().await, process)
}
