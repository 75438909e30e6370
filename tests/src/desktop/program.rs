//! A program on the desktop, killed at the end of the test.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout};

use super::PATIENCE;
use crate::scene::programs::isolate;
use crate::scene::wait::until;

pub struct DesktopProgram {
    name: String,
    child: Child,
}

impl DesktopProgram {
    pub(super) fn start(program: &Path, prepare: impl FnOnce(&mut Command)) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the program stays in the test's process group, so that a killed test takes it along"
        )]
        let mut command = Command::new(program);
        isolate(&mut command);
        command.stdin(Stdio::null()).kill_on_drop(true);
        prepare(&mut command);
        let name = program.display().to_string();
        let child =
            command.spawn().unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        Self { name, child }
    }

    /// The first line of standard output, which must be piped.
    pub(super) async fn first_line(&mut self) -> String {
        let output = self.child.stdout.as_mut().expect("standard output was piped");
        let mut line = String::new();
        match timeout(PATIENCE, BufReader::new(output).read_line(&mut line)).await {
            Ok(Ok(1..)) => line.trim().to_owned(),
            Ok(Ok(0)) => panic!("{} ended without a word", self.name),
            Ok(Err(error)) => panic!("{} cannot be read: {error}", self.name),
            Err(_) => panic!("{} says nothing", self.name),
        }
    }

    /// Its process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Whether it is still running.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_none()
    }

    /// Waits until it shows a page in a window. Each page has its own process.
    pub async fn until_window(&self) {
        let pid = self.pid().expect("it runs");
        until("a window", || pages_of(pid) > 0).await;
    }

    /// Whether it shows a page in a window.
    pub fn has_window(&self) -> bool {
        self.pid().is_some_and(|pid| pages_of(pid) > 0)
    }

    /// Waits until it exits by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        timeout(PATIENCE, self.child.wait())
            .await
            .unwrap_or_else(|_| panic!("{} does not end", self.name))
            .expect("a child can be waited for")
    }

    /// Asks it to exit, and waits.
    pub(super) fn end(&mut self) {
        let pid = self.pid().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let Some(pid) = pid else { return };
        let began = Instant::now();
        let _ = kill_process(pid, Signal::TERM);
        while self.is_running() && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills it without warning.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("a child can be killed");
    }
}

/// The number of child processes that render a page.
fn pages_of(parent: u32) -> usize {
    let processes = std::fs::read_dir("/proc").expect("there is /proc");
    let is_page = |status: &str| {
        let says = |name: &str, value: &str| {
            status
                .lines()
                .any(|line| line.strip_prefix(name).is_some_and(|found| found.trim() == value))
        };
        says("Name:", "WebKitWebProces") && says("PPid:", &parent.to_string())
    };
    processes
        .flatten()
        .filter_map(|process| std::fs::read_to_string(process.path().join("status")).ok())
        .filter(|status| is_page(status))
        .count()
}
