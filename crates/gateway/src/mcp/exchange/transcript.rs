//! What is said about one call, buffer so that an editor whose stream broke can take it up again.
//!
//! What is buffer is bounded, and the answer is always buffer. While somebody reads along, the writer
//! takes nothing more from the upstream than there is room for: a reader that does not read holds up
//! its own call. Once nobody reads, the call goes on, and what there is no room for is gone. A reader
//! that comes back and finds something gone is closed.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use evermoor_core::protocol::envelope::Message;
use evermoor_core::protocol::event_id::{Call, EventId};
use evermoor_core::protocol::sse;

use crate::mcp::session::handler::MessageSink;

pub struct Transcript {
    edition: String,
    stream: u64,
    call: Call,
    buffer: Mutex<Buffer>,
    /// Counts what was written; one more at the end.
    written: watch::Sender<u64>,
    /// A reader has taken something, or left.
    taken: Notify,
}

#[derive(Default)]
struct Buffer {
    events: VecDeque<(u64, Bytes)>,
    bytes: usize,
    next: u64,
    /// When the last word was said.
    over: Option<Instant>,
    /// What each reader wants next.
    wanted: HashMap<u64, u64>,
    readers: u64,
}

/// One editor reading along.
pub struct TranscriptReader {
    transcript: Arc<Transcript>,
    written: watch::Receiver<u64>,
    number: u64,
    next: u64,
}

const MAX_EVENTS: usize = 256;
const MAX_BYTES: usize = 1 << 20;
/// How long a transcript that is over waits for its editor to come back.
const RETENTION: Duration = Duration::from_secs(120);

impl Transcript {
    pub fn new(edition: &str, stream: u64, call: Call) -> Arc<Self> {
        let buffer = Mutex::new(Buffer { next: 1, ..Buffer::default() });
        let (edition, written) = (edition.to_owned(), watch::Sender::new(0));
        Arc::new(Self { edition, stream, call, buffer, written, taken: Notify::new() })
    }

    /// An event that says nothing, so that an editor has an id from the start.
    pub fn priming_event(&self) -> Bytes {
        sse::write(None, Some(&self.id(0)), b"")
    }

    /// The last word has been said.
    pub fn finish(&self) {
        self.buffer.lock().over = Some(Instant::now());
        self.written.send_modify(|count| *count += 1);
    }

    /// Whether nobody can want it any more.
    pub fn is_stale(&self) -> bool {
        self.buffer.lock().over.is_some_and(|over| over.elapsed() >= RETENTION)
    }

    /// Reads what was said after event `after`.
    pub fn reader(self: &Arc<Self>, after: u64) -> TranscriptReader {
        let (written, next) = (self.written.subscribe(), after + 1);
        let mut buffer = self.buffer.lock();
        buffer.readers += 1;
        let number = buffer.readers;
        buffer.wanted.insert(number, next);
        TranscriptReader { transcript: Arc::clone(self), written, number, next }
    }

    fn id(&self, event: u64) -> String {
        let (edition, call) = (self.edition.clone(), self.call.clone());
        EventId::Call { edition, stream: self.stream, event, call }.to_string()
    }
}

impl MessageSink for Transcript {
    fn write(&self, message: &Message) {
        let mut buffer = self.buffer.lock();
        let number = buffer.next;
        let text = sse::write(None, Some(&self.id(number)), &message.to_bytes());
        buffer.next += 1;
        buffer.bytes += text.len();
        buffer.events.push_back((number, text));
        buffer.evict();
        drop(buffer);
        self.written.send_modify(|count| *count += 1);
    }

    /// Waits until there is room for more, or nobody reads.
    async fn ready(&self) {
        loop {
            let taken = self.taken.notified();
            if self.buffer.lock().evict() {
                return;
            }
            taken.await;
        }
    }
}

impl TranscriptReader {
    /// The next event; `None` when there are no more, or some are gone.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            self.written.borrow_and_update();
            {
                let mut buffer = self.transcript.buffer.lock();
                let first = buffer.events.front().map_or(buffer.next, |(number, _)| *number);
                if self.next < first {
                    return None;
                }
                let index = usize::try_from(self.next - first).unwrap_or(usize::MAX);
                if let Some((number, text)) = buffer.events.get(index).cloned() {
                    self.next = number + 1;
                    buffer.wanted.insert(self.number, self.next);
                    self.transcript.taken.notify_waiters();
                    return Some(text);
                }
                if buffer.over.is_some() {
                    return None;
                }
            }
            self.written.changed().await.ok()?;
        }
    }
}

impl Drop for TranscriptReader {
    fn drop(&mut self) {
        self.transcript.buffer.lock().wanted.remove(&self.number);
        self.transcript.taken.notify_waiters();
    }
}

impl Buffer {
    /// Lets go of the oldest until the rest fits, but of nothing that somebody is about to read. Says
    /// whether it fits.
    fn evict(&mut self) -> bool {
        while self.events.len() > 1 && (self.events.len() > MAX_EVENTS || self.bytes > MAX_BYTES) {
            let oldest = self.events.front().map_or(0, |(number, _)| *number);
            if self.wanted.values().any(|wanted| *wanted <= oldest) {
                return false;
            }
            self.bytes -= self.events.pop_front().map_or(0, |(_, text)| text.len());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::protocol::envelope::{Id, Notification, Request, Response};
    use evermoor_core::protocol::json::Raw;
    use futures_util::FutureExt as _;

    fn transcript() -> Arc<Transcript> {
        let call = Call::of(&Request::new(Id::number(1), "tools/call", None));
        Transcript::new("ab", 7, call)
    }

    fn step(text: &str) -> Message {
        Notification::new("notifications/progress", Some(Raw::of(text))).into()
    }

    #[tokio::test]
    async fn a_reader_that_comes_back_goes_on_where_it_was() {
        let transcript = transcript();
        let mut reader = transcript.reader(0);
        transcript.write(&step("one"));
        assert!(reader.next().await.unwrap().starts_with(b"id: c.ab.7.1."));
        drop(reader);
        transcript.write(&step("two"));
        transcript.write(&Message::Response(Response::result(Id::number(1), Raw::of("done"))));
        transcript.finish();
        let mut reader = transcript.reader(1);
        let text = reader.next().await.unwrap();
        assert!(text.windows(5).any(|part| part == b"\"two\""), "{text:?}");
        assert!(reader.next().await.is_some());
        assert!(reader.next().await.is_none());
    }

    #[tokio::test]
    async fn what_is_kept_is_bounded_and_the_answer_is_kept() {
        let transcript = transcript();
        let mut behind = transcript.reader(0);
        let large = "x".repeat(MAX_BYTES / 4);
        for _ in 0..8 {
            transcript.write(&step(&large));
        }
        let mut room = Box::pin(transcript.ready());
        assert!((&mut room).now_or_never().is_none(), "somebody reads, and has not read this");
        assert!(behind.next().await.is_some());
        drop(behind);
        room.await;
        let huge = Raw::of(&"y".repeat(MAX_BYTES * 2));
        transcript.write(&Message::Response(Response::result(Id::number(1), huge)));
        transcript.finish();
        assert!(transcript.reader(1).next().await.is_none(), "one that lost something is closed");
        assert_eq!(transcript.buffer.lock().events.len(), 1);
        assert!(transcript.reader(8).next().await.unwrap().len() > MAX_BYTES);
    }

    #[tokio::test(start_paused = true)]
    async fn a_transcript_that_is_over_waits_a_while() {
        let transcript = transcript();
        transcript.finish();
        assert!(!transcript.is_stale());
        tokio::time::advance(RETENTION).await;
        assert!(transcript.is_stale());
    }
}
