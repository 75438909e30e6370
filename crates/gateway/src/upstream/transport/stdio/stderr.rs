//! What a program says on its standard error: kept for people, never in the program's way.
//!
//! It is read as fast as it comes, whatever becomes of it, because a program whose pipe is full
//! stands still. The last part is kept in memory; a little of it goes to the gateway's own log.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::Instant;

use evermoor_core::catalog::naming::UpstreamName;

use crate::monitoring::redaction;

/// How much is kept.
const KEPT: usize = 256 << 10;
const CHUNK: usize = 8 << 10;
/// How many lines go to the gateway's log in each second.
const LOGGED: u32 = 20;
const SECOND: Duration = Duration::from_secs(1);
/// The longest line that is shown.
const SHOWN: usize = 300;
/// How much of a line is looked at, so that no secret is cut before it is found.
const READ: usize = 4 * SHOWN;

/// The last of what a program said. It outlives the program, so that one that was started again
/// can still be asked what went wrong.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stderr {
    ring: Arc<Mutex<Ring>>,
}

#[derive(Debug, Default)]
struct Ring {
    bytes: VecDeque<u8>,
    /// How much has ever been written.
    total: u64,
}

/// A place in what was said, from which one can go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(u64);

impl Stderr {
    /// Keeps what comes until it ends.
    pub(crate) async fn keep(self, mut pipe: impl AsyncRead + Unpin, upstream: UpstreamName) {
        let mut chunk = vec![0; CHUNK];
        let mut log = Log::new(upstream);
        while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
            self.ring.lock().push(&chunk[..read]);
            log.take(&chunk[..read], Instant::now());
        }
    }

    /// Where what is said next will begin.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.ring.lock().total)
    }

    /// The whole lines said since a mark, as far as they are kept.
    pub(crate) fn lines_since(&self, mark: Mark) -> Vec<String> {
        let ring = self.ring.lock();
        let kept_from = ring.total - ring.bytes.len() as u64;
        let skip = usize::try_from(mark.0.saturating_sub(kept_from)).unwrap_or(usize::MAX);
        let bytes: Vec<u8> = ring.bytes.iter().skip(skip).copied().collect();
        drop(ring);
        // What stands before the first newline is the end of a line if its start was dropped.
        let cut = if kept_from > mark.0 { 1 } else { 0 };
        bytes
            .split(|byte| *byte == b'\n')
            .skip(cut)
            .map(readable)
            .filter(|line| !line.is_empty())
            .collect()
    }

    /// The line since a mark that most likely says what went wrong.
    pub(crate) fn complaint_since(&self, mark: Mark) -> Option<String> {
        complaint(&self.lines_since(mark))
    }
}

impl Ring {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(KEPT)..];
        let spare = (self.bytes.len() + bytes.len()).saturating_sub(KEPT);
        self.bytes.drain(..spare);
        self.bytes.extend(bytes);
    }
}

/// Passes lines on to the gateway's log, and no more of them than anybody could read.
struct Log {
    upstream: UpstreamName,
    line: Vec<u8>,
    since: Option<Instant>,
    passed: u32,
    held_back: u64,
}

impl Log {
    fn new(upstream: UpstreamName) -> Self {
        Self { upstream, line: Vec::new(), since: None, passed: 0, held_back: 0 }
    }

    fn take(&mut self, bytes: &[u8], now: Instant) {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = READ.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                let line = readable(&std::mem::take(&mut self.line));
                self.pass(&line, now);
            }
        }
    }

    fn pass(&mut self, line: &str, now: Instant) {
        if self.since.is_none_or(|since| now.duration_since(since) >= SECOND) {
            if self.held_back > 0 {
                tracing::debug!(upstream = %self.upstream, lines = self.held_back, "stderr: more was said");
            }
            (self.since, self.passed, self.held_back) = (Some(now), 0, 0);
        }
        if self.passed < LOGGED {
            self.passed += 1;
            tracing::debug!(upstream = %self.upstream, "stderr: {line}");
        } else {
            self.held_back += 1;
        }
    }
}

/// A line without secrets, colours and what else steers a terminal.
fn readable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = redaction::scrub(&text);
    let mut shown = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {
                // ESC [ … letter
                if characters.next() == Some('[') {
                    let _ = characters.find(char::is_ascii_alphabetic);
                }
            }
            '\t' => shown.push(' '),
            _ if character.is_control() => {}
            _ => shown.push(character),
        }
        if shown.len() >= SHOWN {
            shown.push('…');
            break;
        }
    }
    shown.trim().to_owned()
}

/// Runtimes print what went wrong, then where, then their own version. So: the last line that
/// speaks of an error, or the last one.
fn complaint(lines: &[String]) -> Option<String> {
    const SIGNS: [&str; 8] =
        ["error", "exception", "panicked", "fatal", "cannot", "not found", "failed", "denied"];
    let recent = &lines[lines.len().saturating_sub(30)..];
    let speaks = |line: &&String| {
        let lower = line.to_lowercase();
        !lower.starts_with("at ") && SIGNS.iter().any(|sign| lower.contains(sign))
    };
    recent.iter().rev().find(speaks).or(recent.last()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> UpstreamName {
        UpstreamName::parse("x").unwrap()
    }

    #[tokio::test]
    async fn the_last_part_is_kept_and_the_rest_is_let_go() {
        let stderr = Stderr::default();
        let flood = "0123456789abcde\n".repeat(1 << 18);
        stderr.clone().keep(flood.as_bytes(), name()).await;
        let before = stderr.mark();
        stderr.clone().keep(&b"the end\n"[..], name()).await;
        assert_eq!(stderr.ring.lock().bytes.len(), KEPT);
        assert_eq!(stderr.lines_since(before), ["the end"]);
        let all = stderr.lines_since(Mark(0));
        assert!(
            all.len() > 16_000
                && all.iter().all(|line| line == "0123456789abcde" || line == "the end")
        );
    }

    #[tokio::test]
    async fn what_an_earlier_program_said_is_not_held_against_the_next() {
        let stderr = Stderr::default();
        stderr.clone().keep(&b"Error: old\n"[..], name()).await;
        assert_eq!(stderr.complaint_since(stderr.mark()), None);
    }

    #[test]
    fn the_line_that_says_what_went_wrong_is_found() {
        let lines =
            |text: &str| text.lines().map(|line| readable(line.as_bytes())).collect::<Vec<_>>();
        let node = "node:internal/modules:1\nError: Cannot find module 'x'\n    at Module.load (error.js:1)\n  code: 1\n\nNode.js v22.1.0";
        assert_eq!(complaint(&lines(node)).unwrap(), "Error: Cannot find module 'x'");
        let python = "Traceback (most recent call last):\n  File \"x.py\"\nModuleNotFoundError: No module named 'y'";
        assert_eq!(complaint(&lines(python)).unwrap(), "ModuleNotFoundError: No module named 'y'");
        assert_eq!(complaint(&lines("starting\nbye")).unwrap(), "bye");
        assert_eq!(complaint(&[]), None);
    }

    #[test]
    fn a_line_is_shown_without_what_steers_a_terminal() {
        assert_eq!(readable(b"\x1b[31mred\x1b[0m\tand\x07 \xff"), "red and \u{fffd}");
        assert!(readable(&[b'x'; 1000]).chars().count() <= SHOWN + 1);
    }
}
