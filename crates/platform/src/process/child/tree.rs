//! A process tree: a program and its descendants, ended as a whole.

use std::sync::mpsc;
use std::time::Duration;

use tokio::process::Child;
use tokio::time::{sleep, timeout};

use super::ProcessExit;
use super::system::Group;

/// How long a program may take to exit after its standard input was closed.
pub const STDIN_CLOSED_TIMEOUT: Duration = Duration::from_secs(3);
/// How long it may take to exit after it was asked to.
pub const TERMINATE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the system may take to reap a killed process.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A running program and its descendants. Dropping it kills them all.
#[derive(Debug)]
pub struct ProcessTree {
    child: Child,
    group: Group,
    exit: Option<ProcessExit>,
    /// All have exited; the id of the group may be reused by now.
    ended: bool,
    /// Keeps the thread alive that started the child.
    _thread: mpsc::Sender<()>,
}

impl ProcessTree {
    pub(super) fn new(child: Child, group: Group, thread: mpsc::Sender<()>) -> Self {
        Self { child, group, exit: None, ended: false, _thread: thread }
    }

    /// The id of the root process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits until the program itself exits. Its descendants may still run.
    pub async fn wait(&mut self) -> ProcessExit {
        if let Some(exit) = self.exit {
            return exit;
        }
        let exit = self.child.wait().await.map_or(ProcessExit::Unknown, ProcessExit::from);
        self.exit = Some(exit);
        exit
    }

    /// Ends the whole tree, after the caller has closed its standard input: waits for it to exit, then
    /// asks it to exit, then kills it. Takes at most five seconds.
    pub async fn end(&mut self) -> ProcessExit {
        let exited = timeout(STDIN_CLOSED_TIMEOUT, self.wait()).await.is_ok();
        if !(exited && self.group.is_empty()) {
            // Asking also resumes stopped processes, so that they handle the signal.
            let asked = self.group.ask();
            if !asked || timeout(TERMINATE_TIMEOUT, self.all_exited()).await.is_err() {
                return self.kill().await;
            }
        }
        self.ended = true;
        self.wait().await
    }

    /// Kills the whole tree.
    pub async fn kill(&mut self) -> ProcessExit {
        self.group.kill();
        let exit = timeout(KILL_TIMEOUT, self.wait()).await.unwrap_or(ProcessExit::Unknown);
        self.ended = true;
        exit
    }

    async fn all_exited(&mut self) {
        self.wait().await;
        while !self.group.is_empty() {
            sleep(POLL_INTERVAL).await;
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        if !self.ended {
            self.group.kill();
        }
    }
}
