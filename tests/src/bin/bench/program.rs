//! A program that is measured: its start and end, processor time and memory.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use evermoor_tests::scene::programs::{built, command, person};
use tokio::process::Command;

/// A running program, killed on drop.
pub(crate) struct BenchProgram {
    child: Child,
}

impl BenchProgram {
    /// Starts one of the programs of this workspace.
    pub(crate) fn built(name: &str, args: &[&str]) -> Self {
        let mut command = command(built(name));
        command.args(args);
        Self::start(command)
    }

    /// Starts `evermoor` for the user whose Evermoor is in `home`.
    pub(crate) fn evermoor(home: &Path, args: &[&str]) -> Command {
        let mut command = command(built("evermoor"));
        command.env("EVERMOOR_HOME", home).env("HOME", person(home)).args(args);
        command
    }

    pub(crate) fn start(mut command: Command) -> Self {
        command.stderr(Stdio::null());
        let child = command.as_std_mut().spawn();
        Self { child: child.unwrap_or_else(|error| panic!("{command:?}: {error}")) }
    }

    /// Starts a program whose standard input and output are pipes.
    pub(crate) fn with_pipes(mut command: Command) -> (Self, ChildStdin, ChildStdout) {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = Self::start(command);
        let input = program.child.stdin.take().expect("standard input is a pipe");
        let output = program.child.stdout.take().expect("standard output is a pipe");
        (program, input, output)
    }

    /// The resident memory in megabytes; 0 where the system does not say.
    pub(crate) fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        kilobytes.unwrap_or_default() / 1024.0
    }

    /// The processor time of all threads so far; zero where the system does not say.
    pub(crate) fn busy(&self) -> Duration {
        let of = |task: io::Result<std::fs::DirEntry>| -> Option<u64> {
            let times = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            times.split_whitespace().next()?.parse().ok()
        };
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id()));
        Duration::from_nanos(tasks.into_iter().flatten().filter_map(of).sum())
    }
}

impl Drop for BenchProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An address where nothing listens.
pub(crate) fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.local_addr().expect("a listener has an address")
}
