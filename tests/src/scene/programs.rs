//! The programs under test, as they were built with the tests, and processes that end with them.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::PATIENCE;

/// A program of this workspace, built with the same profile as the tests.
pub fn built(name: &str) -> PathBuf {
    // Tests lie in <profile>/deps, other programs in <profile> itself.
    let this = std::env::current_exe().expect("this is a program");
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let mut places = this.ancestors().skip(1).take(2).map(|folder| folder.join(&file));
    places.find(|program| program.exists()).unwrap_or_else(|| {
        panic!("{name} is missing near {}: run `cargo build --workspace --bins`", this.display())
    })
}

/// A process that ends with the test. What it prints is kept until it is asked for, so that it never
/// waits for its reader.
pub struct Process {
    pub child: Child,
    lines: mpsc::UnboundedReceiver<String>,
}

impl Process {
    pub fn start(program: &Path, prepare: impl FnOnce(&mut Command)) -> Self {
        let mut command = evermoor_platform::process::spawn::command(program);
        command.stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        prepare(&mut command);
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", program.display()));
        let output = child.stdout.take().expect("standard output was piped");
        let (send, lines) = mpsc::unbounded_channel();
        #[expect(clippy::disallowed_methods, reason = "ends with the output of the process")]
        drop(tokio::spawn(read_lines(output, send)));
        Self { child, lines }
    }

    /// The next line it prints.
    pub async fn line(&mut self) -> String {
        let line = timeout(PATIENCE, self.lines.recv()).await;
        line.expect("it prints a line in time").expect("it has not ended")
    }

    /// The next line it prints that holds `part`.
    pub async fn line_with(&mut self, part: &str) -> String {
        loop {
            let line = self.line().await;
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Ends it as a crash would.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("it can be killed");
    }

    pub async fn ended(&mut self) -> std::process::ExitStatus {
        let ended = timeout(PATIENCE, self.child.wait()).await;
        ended.expect("it ends in time").expect("its end can be waited for")
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_none()
    }

    pub fn pid(&self) -> u32 {
        self.child.id().expect("it has not ended")
    }
}

async fn read_lines(output: ChildStdout, lines: mpsc::UnboundedSender<String>) {
    let mut output = BufReader::new(output).lines();
    while let Ok(Some(line)) = output.next_line().await {
        if lines.send(line).is_err() {
            return;
        }
    }
}
