//! A program with everything it started: waited for, and ended as a whole.

use std::sync::mpsc;
use std::time::Duration;

use tokio::process::Child;
use tokio::time::{sleep, timeout};

use super::Exit;
use super::system::Group;

/// How long a program may take to end after its standard input was closed.
pub const FAREWELL: Duration = Duration::from_secs(3);
/// How long it may take once it was asked.
pub const NOTICE: Duration = Duration::from_secs(2);
/// How long the system may take to clear away what was killed.
const BURIAL: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(20);

/// A running program and its descendants. Dropping it ends them all at once.
#[derive(Debug)]
pub struct Tree {
    child: Child,
    group: Group,
    exit: Option<Exit>,
    /// Nobody is left; the group's number may belong to strangers by now.
    over: bool,
    /// Keeps the thread alive that the child was started from.
    _home: mpsc::Sender<()>,
}

impl Tree {
    pub(super) fn new(child: Child, group: Group, home: mpsc::Sender<()>) -> Self {
        Self { child, group, exit: None, over: false, _home: home }
    }

    /// The process at the head, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the end of the program itself. What it started may still run.
    pub async fn wait(&mut self) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        let exit = self.child.wait().await.map_or(Exit::Untold, Exit::from);
        self.exit = Some(exit);
        exit
    }

    /// Ends the whole tree: waits for it to end by itself, because its standard input has been
    /// closed; then asks; then does not ask any more. Takes five seconds at most.
    pub async fn end(&mut self) -> Exit {
        let left = timeout(FAREWELL, self.wait()).await.is_ok();
        if !(left && self.group.is_empty()) {
            // A stopped process cannot hear until it is woken; asking does that too.
            let asked = self.group.ask();
            if !asked || timeout(NOTICE, self.all_gone()).await.is_err() {
                return self.kill().await;
            }
        }
        self.over = true;
        self.wait().await
    }

    /// Ends the whole tree at once.
    pub async fn kill(&mut self) -> Exit {
        self.group.kill();
        let exit = timeout(BURIAL, self.wait()).await.unwrap_or(Exit::Untold);
        self.over = true;
        exit
    }

    async fn all_gone(&mut self) {
        self.wait().await;
        while !self.group.is_empty() {
            sleep(LOOK).await;
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if !self.over {
            self.group.kill();
        }
    }
}
