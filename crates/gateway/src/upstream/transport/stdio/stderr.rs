//! The standard error of a process, kept to explain failures.
//!
//! It is always read as fast as it comes, because a process blocks when its pipe is full. The last
//! part is kept in memory; a limited number of lines goes to the gateway's log.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::Instant;

use evermoor_core::catalog::naming::UpstreamName;

use crate::system::redaction;

/// How many bytes are kept.
const CAPACITY: usize = 256 << 10;
const CHUNK: usize = 8 << 10;
/// How many lines per second go to the gateway's log.
const LINES_PER_SECOND: u32 = 20;
const SECOND: Duration = Duration::from_secs(1);
/// Longer lines are cut when they are shown.
const MAX_SHOWN: usize = 300;
/// How much of a line is collected: all that is searched for secrets, and a byte that shows that there
/// was more.
const MAX_LINE: usize = redaction::SEARCHED * MAX_SHOWN + 1;

/// The last part of the standard error. It outlives the process, so that the reason of a failure is
/// still known after a restart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stderr {
    buffer: Arc<Mutex<RingBuffer>>,
}

#[derive(Debug, Default)]
struct RingBuffer {
    bytes: VecDeque<u8>,
    /// How many bytes were ever written.
    total: u64,
}

/// A position in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position(u64);

impl Stderr {
    /// Reads a pipe until it ends.
    pub(crate) async fn read(self, mut pipe: impl AsyncRead + Unpin, upstream: UpstreamName) {
        let mut chunk = vec![0; CHUNK];
        let mut log = LogForwarder::new(upstream);
        while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
            self.buffer.lock().push(&chunk[..read]);
            log.push(&chunk[..read], Instant::now());
        }
    }

    /// The position after everything written so far.
    pub(crate) fn position(&self) -> Position {
        Position(self.buffer.lock().total)
    }

    /// The complete lines since a position, as far as they are kept.
    pub(crate) fn lines_since(&self, start: Position) -> Vec<String> {
        let buffer = self.buffer.lock();
        let kept_from = buffer.total - buffer.bytes.len() as u64;
        let skip = usize::try_from(start.0.saturating_sub(kept_from)).unwrap_or(usize::MAX);
        let bytes: Vec<u8> = buffer.bytes.iter().skip(skip).copied().collect();
        drop(buffer);
        // If older bytes were dropped, the first line may have lost its start.
        let cut = if kept_from > start.0 { 1 } else { 0 };
        bytes
            .split(|byte| *byte == b'\n')
            .skip(cut)
            .map(readable)
            .filter(|line| !line.is_empty())
            .collect()
    }

    /// The line since a position that most likely says what went wrong.
    pub(crate) fn error_since(&self, start: Position) -> Option<String> {
        error_line(&self.lines_since(start))
    }
}

impl RingBuffer {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(CAPACITY)..];
        let spare = (self.bytes.len() + bytes.len()).saturating_sub(CAPACITY);
        self.bytes.drain(..spare);
        self.bytes.extend(bytes);
    }
}

/// Forwards lines to the gateway's log, up to a number per second.
struct LogForwarder {
    upstream: UpstreamName,
    line: Vec<u8>,
    since: Option<Instant>,
    forwarded: u32,
    dropped: u64,
}

impl LogForwarder {
    fn new(upstream: UpstreamName) -> Self {
        Self { upstream, line: Vec::new(), since: None, forwarded: 0, dropped: 0 }
    }

    fn push(&mut self, bytes: &[u8], now: Instant) {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                let line = readable(&std::mem::take(&mut self.line));
                self.forward(&line, now);
            }
        }
    }

    fn forward(&mut self, line: &str, now: Instant) {
        if self.since.is_none_or(|since| now.duration_since(since) >= SECOND) {
            if self.dropped > 0 {
                tracing::debug!(upstream = %self.upstream, lines = self.dropped, "stderr: lines were dropped");
            }
            (self.since, self.forwarded, self.dropped) = (Some(now), 0, 0);
        }
        if self.forwarded < LINES_PER_SECOND {
            self.forwarded += 1;
            tracing::debug!(upstream = %self.upstream, "stderr: {line}");
        } else {
            self.dropped += 1;
        }
    }
}

/// A line without secrets and terminal escape codes.
fn readable(line: &[u8]) -> String {
    redaction::excerpt(line, MAX_SHOWN)
}

/// Runtimes print what went wrong, then where, then their version. So this is the last line that
/// mentions an error, or else the last line.
fn error_line(lines: &[String]) -> Option<String> {
    const WORDS: [&str; 8] =
        ["error", "exception", "panicked", "fatal", "cannot", "not found", "failed", "denied"];
    let recent = &lines[lines.len().saturating_sub(30)..];
    let mentions_error = |line: &&String| {
        let lower = line.to_lowercase();
        !lower.starts_with("at ") && WORDS.iter().any(|word| lower.contains(word))
    };
    recent.iter().rev().find(mentions_error).or(recent.last()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> UpstreamName {
        UpstreamName::parse("x").unwrap()
    }

    #[tokio::test]
    async fn only_the_last_part_is_kept() {
        let stderr = Stderr::default();
        let flood = "0123456789abcde\n".repeat(1 << 18);
        stderr.clone().read(flood.as_bytes(), name()).await;
        let before = stderr.position();
        stderr.clone().read(&b"the end\n"[..], name()).await;
        assert_eq!(stderr.buffer.lock().bytes.len(), CAPACITY);
        assert_eq!(stderr.lines_since(before), ["the end"]);
        let all = stderr.lines_since(Position(0));
        assert!(
            all.len() > 16_000
                && all.iter().all(|line| line == "0123456789abcde" || line == "the end")
        );
    }

    #[tokio::test]
    async fn an_error_of_an_earlier_process_is_not_reported_for_the_next() {
        let stderr = Stderr::default();
        stderr.clone().read(&b"Error: old\n"[..], name()).await;
        assert_eq!(stderr.error_since(stderr.position()), None);
    }

    #[test]
    fn the_line_that_says_what_went_wrong_is_found() {
        let lines =
            |text: &str| text.lines().map(|line| readable(line.as_bytes())).collect::<Vec<_>>();
        let node = "node:internal/modules:1\nError: Cannot find module 'x'\n    at Module.load (error.js:1)\n  code: 1\n\nNode.js v22.1.0";
        assert_eq!(error_line(&lines(node)).unwrap(), "Error: Cannot find module 'x'");
        let python = "Traceback (most recent call last):\n  File \"x.py\"\nModuleNotFoundError: No module named 'y'";
        assert_eq!(error_line(&lines(python)).unwrap(), "ModuleNotFoundError: No module named 'y'");
        assert_eq!(error_line(&lines("starting\nbye")).unwrap(), "bye");
        assert_eq!(error_line(&[]), None);
    }

    #[test]
    fn a_line_is_shown_without_terminal_escapes() {
        assert_eq!(readable(b"\x1b[31mred\x1b[0m\tand\x07 \xff"), "red and\u{fffd} \u{fffd}");
        assert!(readable(&[b'x'; 1000]).chars().count() <= MAX_SHOWN + 1);
    }
}
