//! A fake PiecesOS: an application that nobody's gateway started, with a life of its own.
//!
//! It is installed in a folder, runs as its own process, restarts itself, moves between ports, and
//! fails in every way that was seen of the real one. However a life of it was launched, it calls
//! its test ([`guardian`]), which tells it faults, and it ends with the test.

mod apply_fault;
mod behaviour;
mod connections;
pub mod fault;
pub mod guardian;
mod http;
pub mod life;
mod mcp;
pub mod ports;
mod preset;
mod sessions;
pub mod settings;
mod sse;
mod streamable;

use std::path::PathBuf;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::PATIENCE;
use crate::Scene;
use crate::oracle::ledger::Ledger;
use crate::scene::programs::Process;
pub use fault::{Area, Fault};
pub use guardian::Life;
use ports::Range;
pub use settings::{Flap, OnRestart, Settings};

/// An installed PiecesOS, running or not.
pub struct Pieces {
    pub folder: PathBuf,
    pub ledger: Ledger,
    /// The ports it may use; nobody else does.
    pub range: Range,
    lives: watch::Receiver<Vec<Life>>,
    tasks: JoinSet<()>,
}

impl Pieces {
    /// Installs it, and does not run it.
    pub async fn install(scene: &Scene) -> Self {
        let (folder, range) = (scene.path("pieces"), Range::claim());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let settings = Settings {
            first_port: range.first,
            guardian: listener.local_addr().ok(),
            ..Settings::default()
        };
        settings.write(&folder);
        preset::install_program(&folder, range.first);
        let (show, lives) = watch::channel(Vec::new());
        let mut tasks = JoinSet::new();
        tasks.spawn(guardian::receive(listener, show));
        let ledger = Ledger::at(folder.join("ledger"));
        Self { folder, ledger, range, lives, tasks }
    }

    /// Installs it and runs it.
    pub async fn start(scene: &Scene) -> Self {
        let mut pieces = Self::install(scene).await;
        pieces.launch().await;
        pieces
    }

    /// Launches it, as a person would, and waits until it listens.
    pub async fn launch(&mut self) -> Life {
        let next = self.lives() + 1;
        let (program, args) = self.command();
        let mut process = Process::start(&program, |command| {
            command.args(args);
        });
        // A parent asks how its child ended, and only then the system tells others.
        self.tasks.spawn(async move { drop(process.child.wait().await) });
        self.life(next).await
    }

    /// Takes it off the machine; a life that runs goes on.
    pub fn uninstall(&self) {
        let program = preset::program(&self.folder, self.range.first);
        std::fs::remove_file(program).expect("it is installed");
    }

    /// What launches it.
    pub fn command(&self) -> (PathBuf, Vec<String>) {
        let folder = self.folder.to_str().expect("a path is text").to_owned();
        (preset::program(&self.folder, self.range.first), vec![folder])
    }

    /// Changes what it is. A running life sees it at once, a port is for the next life.
    pub fn alter(&self, change: impl FnOnce(&mut Settings)) {
        Settings::alter(&self.folder, change);
    }

    /// Tells its newest life a fault, and waits until it holds.
    pub async fn tell(&self, fault: Fault) {
        self.newest().tell(fault).await;
    }

    /// How often it was started.
    pub fn lives(&self) -> usize {
        self.lives.borrow().len()
    }

    pub fn newest(&self) -> Life {
        self.lives.borrow().last().cloned().expect("it was started")
    }

    /// Its life with this number, counted from 1, as soon as it listens.
    pub async fn life(&self, number: usize) -> Life {
        let mut lives = self.lives.clone();
        let lived = timeout(PATIENCE, lives.wait_for(|lives| lives.len() >= number)).await;
        lived.expect("it starts in time").expect("the test goes on")[number - 1].clone()
    }

    pub fn pid(&self) -> u32 {
        self.newest().pid
    }

    pub fn port(&self) -> u16 {
        self.newest().port
    }

    /// Where its newest life serves this path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port())
    }

    /// Its MCP endpoint of 2024-11-05.
    pub fn events_url(&self) -> String {
        self.url(sse::STREAM)
    }

    /// Its MCP endpoint of 2025-03-26.
    pub fn streamable_url(&self) -> String {
        self.url(streamable::PATH)
    }

    /// Ends its newest life as the system would if memory ran out.
    pub async fn kill(&self) {
        let life = self.newest();
        evermoor_platform::process::spawn::kill(life.pid).expect("it is ours");
        life.ended().await;
    }

    /// Freezes its newest life: the system still takes connections and bytes for it.
    #[cfg(unix)]
    pub fn freeze(&self) {
        self.signal(rustix::process::Signal::STOP);
    }

    /// Lets it go on.
    #[cfg(unix)]
    pub fn thaw(&self) {
        self.signal(rustix::process::Signal::CONT);
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.pid()).ok().and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(pid.expect("it runs"), signal).expect("it is ours");
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        // One that is frozen does not see that its test is over. While the line to a life is open,
        // its number belongs to it.
        for life in self.lives.borrow().iter().filter(|life| !life.has_ended()) {
            let _ = evermoor_platform::process::spawn::kill(life.pid);
        }
    }
}
