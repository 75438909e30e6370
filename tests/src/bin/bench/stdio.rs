//! Calls over the standard input and output of a shim.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::time::Duration;

use tokio::process::Command;
use tokio::time::Instant;

use crate::http::{FAILED, call, initialize};
use crate::program::BenchProgram;

/// How a call with the id 0 starts.
const START: &str = "{\"id\":0";

/// A shim with a session.
pub(crate) struct Pipes {
    pub(crate) program: BenchProgram,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    tool: String,
}

impl Pipes {
    /// Starts a shim and completes the handshake.
    pub(crate) fn open(command: Command, tool: &str) -> Self {
        let (program, input, output) = BenchProgram::with_pipes(command);
        let output = BufReader::with_capacity(256 << 10, output);
        let mut pipes = Self { program, input, output, line: Vec::new(), tool: tool.to_owned() };
        pipes.write(format!("{}\n", initialize()).as_bytes());
        pipes.read(0);
        pipes.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        pipes
    }

    /// Makes calls with a text of this size, one after the other.
    pub(crate) fn calls(&mut self, size: usize, count: usize) -> Vec<Duration> {
        let line = call(1, &self.tool, size) + "\n";
        let one = |_| {
            let began = Instant::now();
            self.write(line.as_bytes());
            self.read(size);
            began.elapsed()
        };
        (0..count).map(one).collect()
    }

    /// Makes calls with `concurrency` of them open at any time; returns how many were answered per second.
    pub(crate) fn throughput(&mut self, concurrency: usize, size: usize, count: usize) -> f64 {
        let (allowed, permits) = std::sync::mpsc::sync_channel(concurrency);
        for _ in 0..concurrency {
            let _ = allowed.send(());
        }
        let Self { input, output, line, tool, .. } = self;
        let began = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let line = call(0, tool, size) + "\n";
                let rest = line.strip_prefix(START).expect("the id comes first");
                for id in 1..=count {
                    permits.recv().expect("answers arrive");
                    let start = format!("{{\"id\":{id}");
                    input.write_all(start.as_bytes()).expect("the shim reads");
                    input.write_all(rest.as_bytes()).expect("the shim reads");
                }
            });
            for _ in 0..count {
                read(output, line, size);
                let _ = allowed.try_send(());
            }
        });
        count as f64 / began.elapsed().as_secs_f64()
    }

    fn write(&mut self, line: &[u8]) {
        self.input.write_all(line).expect("the shim reads");
    }

    fn read(&mut self, size: usize) {
        read(&mut self.output, &mut self.line, size);
    }
}

/// Reads lines until one is an answer.
fn read(output: &mut BufReader<ChildStdout>, line: &mut Vec<u8>, size: usize) {
    loop {
        line.clear();
        let read = output.read_until(b'\n', line).expect("the shim writes");
        assert!(read > 0, "the shim has ended");
        let start = String::from_utf8_lossy(&line[..read.min(1000)]);
        if start.contains("\"result\"") {
            assert!(read > size && !start.contains(FAILED), "{start}");
            return;
        }
        assert!(start.contains("\"method\""), "{start}");
    }
}
