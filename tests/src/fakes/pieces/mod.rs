//! A fake PiecesOS: an application that the gateway did not start and does not own.
//!
//! It is installed in a folder, runs in its own process, restarts itself, moves between ports, and
//! fails in every way the real one was seen to fail. However it is launched, it connects to its
//! test ([`test_connection`]), receives faults from it, and exits with it.
//!
//! - [`fault`], [`apply_fault`], [`behaviour`]: what can go wrong
//! - [`process`], [`test_connection`], [`connections`]: its process
//! - [`http`], [`mcp`]: its API
//! - [`settings`], [`ports`], [`preset`]: its configuration, and how a gateway finds it

mod apply_fault;
mod behaviour;
mod connections;
pub mod fault;
mod http;
mod mcp;
pub mod ports;
mod preset;
pub mod process;
pub mod settings;
pub mod test_connection;

use std::path::PathBuf;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::PATIENCE;
use crate::Scene;
use crate::oracle::ledger::Ledger;
use crate::scene::freezing;
use crate::scene::programs::Process;
pub use fault::{Area, Fault};
use ports::Range;
pub use settings::{AppSettings, Flap, OnRestart};
pub use test_connection::AppInstance;

/// An installed PiecesOS, running or not.
pub struct Pieces {
    pub folder: PathBuf,
    pub ledger: Ledger,
    /// The ports reserved for it.
    pub range: Range,
    instances: watch::Receiver<Vec<AppInstance>>,
    tasks: JoinSet<()>,
}

impl Pieces {
    /// Installs it without starting it.
    pub async fn install(scene: &Scene) -> Self {
        let (folder, range) = (scene.path("pieces"), Range::claim());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let settings = AppSettings {
            first_port: range.first,
            test_address: listener.local_addr().ok(),
            ..AppSettings::default()
        };
        settings.write(&folder);
        preset::install_program(&folder, range.first);
        let (show, instances) = watch::channel(Vec::new());
        let mut tasks = JoinSet::new();
        tasks.spawn(test_connection::receive(listener, show));
        let ledger = Ledger::at(folder.join("ledger"));
        Self { folder, ledger, range, instances, tasks }
    }

    /// Installs and starts it.
    pub async fn start(scene: &Scene) -> Self {
        let mut pieces = Self::install(scene).await;
        pieces.launch().await;
        pieces
    }

    /// Launches it as a user would, and waits until it listens.
    pub async fn launch(&mut self) -> AppInstance {
        let next = self.starts() + 1;
        let (program, args) = self.command();
        let mut process = Process::start(&program, |command| {
            command.args(args);
        });
        // Reap the process: until its parent has, the system still lists it.
        self.tasks.spawn(async move { drop(process.child.wait().await) });
        self.instance(next).await
    }

    /// Removes the program. A running process continues.
    pub fn uninstall(&self) {
        let program = preset::program(&self.folder, self.range.first);
        std::fs::remove_file(program).expect("it is installed");
    }

    /// The command line that launches it.
    pub fn command(&self) -> (PathBuf, Vec<String>) {
        let folder = self.folder.to_str().expect("a path is text").to_owned();
        (preset::program(&self.folder, self.range.first), vec![folder])
    }

    /// Changes its settings. A running process sees the change at once; a port takes effect at the
    /// next start.
    pub fn alter(&self, change: impl FnOnce(&mut AppSettings)) {
        AppSettings::alter(&self.folder, change);
    }

    /// Injects a fault into its newest process, and waits until it is in effect.
    pub async fn tell(&self, fault: Fault) {
        self.newest().tell(fault).await;
    }

    /// How often it was started.
    pub fn starts(&self) -> usize {
        self.instances.borrow().len()
    }

    pub fn newest(&self) -> AppInstance {
        self.instances.borrow().last().cloned().expect("it was started")
    }

    /// Its process with this number, counted from 1, once it listens.
    pub async fn instance(&self, number: usize) -> AppInstance {
        let mut instances = self.instances.clone();
        let lived =
            timeout(PATIENCE, instances.wait_for(|instances| instances.len() >= number)).await;
        lived.expect("it starts in time").expect("the test goes on")[number - 1].clone()
    }

    pub fn pid(&self) -> u32 {
        self.newest().pid
    }

    pub fn port(&self) -> u16 {
        self.newest().port
    }

    /// The URL of this path at its newest process.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port())
    }

    /// Its 2024-11-05 MCP endpoint.
    pub fn events_url(&self) -> String {
        self.url(mcp::sse::STREAM)
    }

    /// Its 2025-03-26 MCP endpoint.
    pub fn streamable_url(&self) -> String {
        self.url(mcp::streamable::PATH)
    }

    /// Kills its newest process, as the system does when memory runs out.
    pub async fn kill(&self) {
        let instance = self.newest();
        evermoor_platform::process::spawn::kill(instance.pid).expect("it is ours");
        instance.ended().await;
    }

    /// Freezes its newest process. The system still accepts connections and bytes for it.
    pub fn freeze(&self) {
        freezing::freeze(self.pid());
    }

    /// Resumes it.
    pub fn thaw(&self) {
        freezing::thaw(self.pid());
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        // A frozen process does not notice that its test is over. While its connection is open, its
        // process id is not reused.
        for instance in self.instances.borrow().iter().filter(|instance| !instance.has_ended()) {
            let _ = evermoor_platform::process::spawn::kill(instance.pid);
        }
    }
}
