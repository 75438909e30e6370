//! Reads and writes messages on stdin and stdout, one per line.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Buf as _, Bytes, BytesMut};
use memchr::{memchr, memchr2};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::{mpsc, oneshot};

use evermoor_core::protocol::envelope::Id;
use evermoor_core::protocol::request_size::IdFinder;
use evermoor_platform::stdio;

/// A line from the editor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(Bytes),
    /// Larger than the gateway accepts. The line was skipped; its id is kept if it had one.
    TooLong(Option<Id>),
}

/// How much is read at once: as much as a pipe holds.
const READ_AHEAD: usize = 64 << 10;
/// How many lines may wait to be written.
const QUEUE: usize = 64;
/// A message of up to this size is copied to be written together with its line break.
const COPIED: usize = 64 << 10;

/// Reads lines.
pub(super) struct LineReader<R> {
    input: R,
    received: BytesMut,
    /// How much of `received` has no line break.
    searched: usize,
    longest: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(input: R, longest: usize) -> Self {
        Self { input, received: BytesMut::new(), searched: 0, longest }
    }

    /// The next line that is not blank, or `None` at the end of the input.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let rest = &self.received[self.searched..];
            if let Some(end) = memchr(b'\n', rest) {
                let line = self.received.split_to(self.searched + end);
                self.received.advance(1);
                self.searched = 0;
                match self.line(line) {
                    Some(line) => return Ok(Some(line)),
                    None => continue,
                }
            }
            self.searched = self.received.len();
            if self.searched > self.longest {
                return self.skip_long_line().await.map(Some);
            }
            self.received.reserve(READ_AHEAD);
            if self.input.read_buf(&mut self.received).await? == 0 {
                let line = self.received.split();
                self.searched = 0;
                return Ok(self.line(line));
            }
        }
    }

    fn line(&self, line: BytesMut) -> Option<Line> {
        if line.len() > self.longest {
            let mut finder = IdFinder::default();
            finder.feed(&line);
            return Some(Line::TooLong(finder.id()));
        }
        (!line.trim_ascii().is_empty()).then(|| Line::Text(line.freeze()))
    }

    /// Reads the rest of a line that is too long, and keeps its id.
    async fn skip_long_line(&mut self) -> io::Result<Line> {
        let mut finder = IdFinder::default();
        self.searched = 0;
        loop {
            let end = memchr(b'\n', &self.received);
            finder.feed(&self.received[..end.unwrap_or(self.received.len())]);
            match end {
                Some(end) => {
                    self.received.advance(end + 1);
                    return Ok(Line::TooLong(finder.id()));
                }
                None => self.received.clear(),
            }
            if self.input.read_buf(&mut self.received).await? == 0 {
                return Ok(Line::TooLong(finder.id()));
            }
        }
    }
}

/// Where messages for the editor go. A small one is written at once if that does not block; any other
/// one waits its turn in a queue that a thread writes.
pub(super) struct LineWriter {
    queue: mpsc::Sender<Bytes>,
    /// How many lines are in the queue or being written.
    unwritten: Arc<AtomicUsize>,
}

impl LineWriter {
    /// Starts the thread, which ends with the writer. The receiver is notified when all is written.
    pub(super) fn start() -> io::Result<(Self, oneshot::Receiver<()>)> {
        let (queue, lines) = mpsc::channel(QUEUE);
        let (written, all_written) = oneshot::channel();
        let unwritten = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&unwritten);
        let thread = std::thread::Builder::new().name("stdout".into());
        // Not joined: a blocking write cannot be cancelled.
        thread.spawn(move || {
            write_lines(lines, &counter);
            drop::<oneshot::Sender<()>>(written);
        })?;
        Ok((Self { queue, unwritten }, all_written))
    }

    /// Writes one message. Fails silently if the editor has closed its end of the pipe.
    pub(super) async fn write(&self, message: Bytes) {
        let line = one_line(message);
        if self.unwritten.load(Ordering::Acquire) == 0
            && matches!(stdio::try_write(&line), Ok(true))
        {
            return;
        }
        self.unwritten.fetch_add(1, Ordering::Relaxed);
        let _ = self.queue.send(line).await;
    }
}

/// Writes lines until the queue closes or the reader goes away.
fn write_lines(mut lines: mpsc::Receiver<Bytes>, unwritten: &AtomicUsize) {
    while let Some(line) = lines.blocking_recv() {
        let end: &[u8] = if line.ends_with(b"\n") { b"" } else { b"\n" };
        if stdio::write(&line).and_then(|()| stdio::write(end)).is_err() {
            return;
        }
        unwritten.fetch_sub(1, Ordering::Release);
    }
}

/// A message without line breaks. In JSON, a line break can only occur between tokens, where a space is
/// equivalent. A small message is copied and ends with a line break; a large one is not copied for that.
fn one_line(message: Bytes) -> Bytes {
    if message.len() > COPIED && memchr2(b'\n', b'\r', &message).is_none() {
        return message;
    }
    let mut line = BytesMut::with_capacity(message.len() + 1);
    line.extend_from_slice(&message);
    let mut at = 0;
    while let Some(found) = memchr2(b'\n', b'\r', &line[at..]) {
        line[at + found] = b' ';
        at += found + 1;
    }
    line.extend_from_slice(b"\n");
    line.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_many_lines_becomes_one_line() {
        let line = one_line(Bytes::from_static(b"{\r\n \"a\":1\n}"));
        assert_eq!(&line[..], b"{   \"a\":1 }\n");
        let large = [&b"{"[..], &[b' '; COPIED], b"\n}"].concat();
        assert_eq!(memchr(b'\n', &one_line(large.into())), Some(COPIED + 3));
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_its_id_is_kept() {
        let text = b"one\n\n  \n{\"id\":7,\"params\":\"much too long\"}\nexactly-16-bytes\nlast";
        for size in [1, 3, 7, 1024] {
            let (mut writer, reader) = tokio::io::duplex(size);
            let writing =
                async move { tokio::io::AsyncWriteExt::write_all(&mut writer, text).await };
            let mut reader = LineReader::new(reader, 16);
            let reading = async {
                let mut lines = Vec::new();
                while let Some(line) = reader.next().await.unwrap() {
                    lines.push(line);
                }
                lines
            };
            let (lines, written) = tokio::join!(reading, writing);
            written.unwrap();
            let whole = |text: &'static str| Line::Text(Bytes::from_static(text.as_bytes()));
            let message_too_large = Line::TooLong(Some(Id::number(7)));
            assert_eq!(
                lines,
                [whole("one"), message_too_large, whole("exactly-16-bytes"), whole("last")]
            );
        }
    }
}
