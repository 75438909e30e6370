//! The gateway's log: its newest lines in memory, all lines in a file.
//!
//! # Theory of operation
//! A [`LogLayer`] formats `tracing` events as lines, without the secrets that [`scrub`] finds. A
//! line then goes into a ring buffer for the dashboard, to followers, and to a thread that writes
//! the file ([`evermoor_log::file`]). The queue to that thread is bounded: when the disk is slow or
//! full, lines are lost and counted, and nobody waits.
//!
//! There is one log per process, like `tracing`'s subscriber.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::broadcast;

use evermoor_core::api::LogLine;
use evermoor_core::security::redaction::patterns;
use evermoor_log::{LogLayer, LogWriter};

use crate::system::redaction;

/// How many lines are kept in memory.
const MAX_LINES: usize = 2_000;
/// How many lines a follower may fall behind before it misses some.
const FOLLOWER_LAG: usize = 512;
/// How long shutdown waits for the last lines to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// A handle to the log.
#[derive(Clone)]
pub struct GatewayLog {
    inner: Arc<LogState>,
}

struct LogState {
    newest: Mutex<VecDeque<LogLine>>,
    followers: broadcast::Sender<LogLine>,
    writer: Option<LogWriter>,
}

static CURRENT: OnceLock<GatewayLog> = OnceLock::new();

/// The log of this process, if it keeps one.
pub fn here() -> Option<GatewayLog> {
    CURRENT.get().cloned()
}

/// Starts the log of this process in the given file. Add the layer to the subscriber.
pub fn start(path: &Path) -> LogLayer<impl Fn(&str) -> String + use<>, impl Fn(LogLine) + use<>> {
    let log = GatewayLog::new(LogWriter::start(path.to_owned()));
    let log = CURRENT.get_or_init(|| log).clone();
    LogLayer::new(scrub, move |line| log.take(line))
}

/// The text of a line without known secrets and without what looks like one.
fn scrub(text: &str) -> String {
    patterns::scrub(&redaction::scrub(text)).into_owned()
}

impl GatewayLog {
    fn new(writer: Option<LogWriter>) -> Self {
        let (followers, _) = broadcast::channel(FOLLOWER_LAG);
        Self { inner: Arc::new(LogState { newest: Mutex::default(), followers, writer }) }
    }

    fn take(&self, line: LogLine) {
        if let Some(writer) = &self.inner.writer {
            writer.write(&line);
        }
        let mut newest = self.inner.newest.lock();
        if newest.len() == MAX_LINES {
            newest.pop_front();
        }
        newest.push_back(line.clone());
        // Under the lock, so that a new follower misses no line.
        let _ = self.inner.followers.send(line);
    }

    /// The newest lines, of one upstream or of all, and a receiver for new ones.
    pub fn tail(
        &self,
        upstream: Option<&str>,
        count: usize,
    ) -> (Vec<LogLine>, broadcast::Receiver<LogLine>) {
        let newest = self.inner.newest.lock();
        let wanted = newest.iter().rev().filter(|line| is_of(line, upstream)).take(count);
        let mut lines: Vec<LogLine> = wanted.cloned().collect();
        lines.reverse();
        (lines, self.inner.followers.subscribe())
    }

    /// Waits briefly until all lines are in the file.
    pub fn finish(&self) {
        if let Some(writer) = &self.inner.writer {
            writer.finish(FLUSH_TIMEOUT);
        }
    }
}

/// Whether a line is about this upstream; always true for `None`.
pub fn is_of(line: &LogLine, upstream: Option<&str>) -> bool {
    upstream.is_none_or(|name| line.upstream.as_deref() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::api::LogLevel;

    fn line(upstream: Option<&str>, text: &str) -> LogLine {
        let upstream = upstream.map(str::to_owned);
        LogLine { at: 1, level: LogLevel::Info, upstream, text: text.into() }
    }

    #[test]
    fn the_newest_lines_of_one_upstream_are_returned() {
        let log = GatewayLog::new(None);
        for number in 0..MAX_LINES + 10 {
            log.take(line(Some(["a", "b"][number % 2]), &number.to_string()));
        }
        log.take(line(None, "none"));
        let texts = |upstream, count| -> Vec<String> {
            log.tail(upstream, count).0.into_iter().map(|line| line.text).collect()
        };
        assert_eq!(texts(Some("a"), 2), ["2006", "2008"]);
        assert_eq!(texts(None, 2), ["2009", "none"]);
        assert_eq!(texts(None, usize::MAX).len(), MAX_LINES);
    }

    #[tokio::test]
    async fn a_follower_gets_new_lines() {
        let log = GatewayLog::new(None);
        log.take(line(None, "before"));
        let (seen, mut more) = log.tail(None, 10);
        log.take(line(None, "after"));
        assert_eq!(seen.len(), 1);
        assert_eq!(more.recv().await.unwrap().text, "after");
    }

    #[test]
    fn a_line_contains_nothing_that_looks_like_a_secret() {
        assert_eq!(scrub("token=abcdef"), "token=[removed]");
    }
}
