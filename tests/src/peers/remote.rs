//! A third-party server at an address, which can be killed and started again.

use std::hash::{BuildHasher as _, RandomState};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::{Maker, Over, PeerCommand, PeerRecorder};
use crate::gateway::http;
use crate::scene::entry;
use crate::scene::programs::Process;
use crate::{PATIENCE, Scene};

/// A server at an address, running or dead.
pub struct Remote {
    /// Shared, so that the server can be called while it is being restarted.
    pub recorder: Arc<PeerRecorder>,
    pub url: String,
    command: PeerCommand,
    port: u16,
    process: Process,
}

impl Remote {
    /// Starts a server without waiting for it.
    pub async fn start(scene: &Scene, maker: Maker, over: Over) -> Self {
        let recorder = maker.recorder(scene.path("peer.ledger")).await;
        let port = free_port();
        let command = maker.command_line(over, &recorder.ledger, port);
        let url = format!("http://127.0.0.1:{port}{}", maker.path(over));
        let process = launch(&command, port);
        Self { recorder: Arc::new(recorder), url, command, port, process }
    }

    /// Its configuration entry, with nothing but the address.
    pub fn entry(&self) -> String {
        entry::at("peer", &self.url)
    }

    /// Kills it.
    pub async fn kill(&mut self) {
        self.process.kill().await;
    }

    /// Starts it again at the same address, without its earlier state, and waits until it listens.
    pub async fn start_again(&mut self) {
        self.process = launch(&self.command, self.port);
        let listens = async {
            while TcpStream::connect(("127.0.0.1", self.port)).await.is_err() {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, listens).await.expect("it listens in time");
    }

    /// The id of the next session that it reports.
    pub async fn session(&mut self) -> String {
        let line = self.process.line_with("Session initialized with ID: ").await;
        line.rsplit(' ').next().expect("a line has a last word").to_owned()
    }

    /// Ends a session, which needs nothing but its id.
    pub async fn end_session(&self, id: &str) {
        let request = http().delete(&self.url).header("mcp-session-id", id);
        let answer = request.send().await.expect("it answers");
        assert!(answer.status().is_success(), "it answered {}", answer.status());
    }
}

fn launch(command: &PeerCommand, port: u16) -> Process {
    Process::start(&command.program, |started| {
        started.args(&command.args).env("PORT", port.to_string());
    })
}

/// A free port outside the ephemeral range, so that nobody takes it while its server is dead.
pub fn free_port() -> u16 {
    loop {
        let dice = RandomState::new().hash_one(std::process::id());
        let port = 20_000 + u16::try_from(dice % 10_000).expect("it is small");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
