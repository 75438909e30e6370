//! `evermoor connect` as an editor starts it, line by line.

use std::path::Path;
use std::process::{ExitStatus, Stdio};

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;

use crate::scene::programs::Process;

/// A running shim whose standard input is open.
pub struct ShimProcess {
    pub process: Process,
    input: ChildStdin,
}

impl ShimProcess {
    pub fn start(home: &Path, upstream: Option<&str>) -> Self {
        Self::start_with(home, upstream.as_slice())
    }

    /// A shim with these arguments.
    pub fn start_with(home: &Path, arguments: &[&str]) -> Self {
        let mut process = Process::evermoor(home, |command| {
            command.arg("connect").args(arguments).arg("--home").arg(home).stdin(Stdio::piped());
        });
        let input = process.child.stdin.take().expect("standard input was piped");
        Self { process, input }
    }

    /// Writes one line.
    pub async fn send(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.expect("the shim reads");
        self.input.write_all(b"\n").await.expect("the shim reads");
    }

    /// The next line, which must be a message.
    pub async fn next(&mut self) -> Value {
        let line = self.process.line().await;
        let message: Value = serde_json::from_str(&line).expect("only JSON is on standard output");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// The next answer.
    pub async fn answer(&mut self) -> Value {
        loop {
            let message = self.next().await;
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Completes the `initialize` handshake.
    pub async fn initialized(mut self) -> Self {
        self.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"shim","version":"1"}}}"#).await;
        let answer = self.answer().await;
        assert!(answer["id"] == 0 && answer.get("result").is_some(), "{answer}");
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        self
    }

    /// Closes standard input and waits until the shim exits.
    pub async fn leave(self) -> ExitStatus {
        let Self { mut process, input } = self;
        drop(input);
        process.ended().await
    }
}
