//! The messages about one call, kept so that an editor whose stream broke can resume it.
//!
//! The transcript is bounded, and it always keeps the response. While an editor is reading, the
//! writer takes no more from the upstream than fits, so a slow reader delays only its own call.
//! When nobody is reading, the call goes on and the oldest messages are dropped. A reader that
//! resumes at a dropped message is closed. A finished transcript that nobody reads is dropped if its
//! editor needs the room for other messages.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use evermoor_core::protocol::envelope::Message;
use evermoor_core::protocol::event_id::{CallRef, EventId};
use evermoor_core::protocol::sse;

use crate::mcp::session::handler::MessageSink;
use crate::system::budget::{Budget, Droppable, StillUsed};

pub struct Transcript {
    instance_id: String,
    stream: u64,
    call: CallRef,
    buffer: Mutex<Buffer>,
    /// Counts the events written, plus one at the end.
    written: watch::Sender<u64>,
    /// Notified when a reader takes an event or leaves.
    taken: Notify,
    /// The editor, which is charged for what is kept.
    budget: Arc<Budget>,
}

#[derive(Default)]
struct Buffer {
    events: VecDeque<(u64, Bytes)>,
    bytes: usize,
    next: u64,
    /// When the response was written.
    finished_at: Option<Instant>,
    /// The next event that each reader will take.
    wanted: HashMap<u64, u64>,
    readers: u64,
}

/// Reads a transcript from one position on.
pub struct TranscriptReader {
    transcript: Arc<Transcript>,
    written: watch::Receiver<u64>,
    number: u64,
    next: u64,
}

const MAX_EVENTS: usize = 256;
const MAX_BYTES: usize = 1 << 20;
/// How long a finished transcript is kept for its editor to resume.
const RETENTION: Duration = Duration::from_secs(120);

impl Transcript {
    pub(crate) fn new(
        instance_id: &str,
        stream: u64,
        call: CallRef,
        budget: Arc<Budget>,
    ) -> Arc<Self> {
        let buffer = Mutex::new(Buffer { next: 1, ..Buffer::default() });
        let (instance_id, written) = (instance_id.to_owned(), watch::Sender::new(0));
        let taken = Notify::new();
        Arc::new(Self { instance_id, stream, call, buffer, written, taken, budget })
    }

    /// An event without data, so that the editor has an event id to resume from right away.
    pub fn priming_event(&self) -> Bytes {
        sse::write(None, Some(&self.id(0)), b"")
    }

    /// Marks the transcript as complete. From now on it can be dropped if the editor needs the room.
    pub fn finish(self: &Arc<Self>) {
        self.buffer.lock().finished_at = Some(Instant::now());
        self.written.send_modify(|count| *count += 1);
        let this: Arc<dyn Droppable> = Arc::<Self>::clone(self);
        self.budget.add_droppable(Arc::downgrade(&this));
    }

    /// Whether its messages were dropped because the editor needed the room.
    pub fn is_dropped(&self) -> bool {
        let buffer = self.buffer.lock();
        buffer.finished_at.is_some() && buffer.events.is_empty() && buffer.next > 1
    }

    /// Whether it has been finished for too long to be resumed.
    pub fn is_stale(&self) -> bool {
        self.buffer.lock().finished_at.is_some_and(|finished_at| finished_at.elapsed() >= RETENTION)
    }

    /// Reads the events after event `after`.
    pub fn reader(self: &Arc<Self>, after: u64) -> TranscriptReader {
        let (written, next) = (self.written.subscribe(), after + 1);
        let mut buffer = self.buffer.lock();
        buffer.readers += 1;
        let number = buffer.readers;
        buffer.wanted.insert(number, next);
        TranscriptReader { transcript: Arc::clone(self), written, number, next }
    }

    fn id(&self, event: u64) -> String {
        let (instance_id, call) = (self.instance_id.clone(), self.call.clone());
        EventId::Call { instance_id, stream: self.stream, event, call }.to_string()
    }
}

impl MessageSink for Transcript {
    fn write(&self, message: &Message) {
        let mut buffer = self.buffer.lock();
        let number = buffer.next;
        let text = sse::write(None, Some(&self.id(number)), &message.to_bytes());
        let text = self.budget.charge_anyway(text.len()).keep(text).0;
        buffer.next += 1;
        buffer.bytes += text.len();
        buffer.events.push_back((number, text));
        buffer.evict();
        drop(buffer);
        self.written.send_modify(|count| *count += 1);
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.budget.has_room(bytes)
    }

    /// Waits until the buffer has space or nobody is reading.
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

impl Droppable for Transcript {
    fn drop_unused(&self) -> StillUsed {
        let mut buffer = self.buffer.lock();
        if !buffer.wanted.is_empty() {
            return StillUsed::Yes;
        }
        buffer.events.clear();
        buffer.bytes = 0;
        StillUsed::No
    }
}

impl TranscriptReader {
    /// The next event; `None` at the end, or if that event was dropped.
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
                if buffer.finished_at.is_some() {
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
    /// Drops the oldest events until the rest fits, except those that a reader has yet to take.
    /// Returns whether it fits.
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
        let call = CallRef::of(&Request::new(Id::number(1), "tools/call", None));
        Transcript::new("ab", 7, call, Arc::default())
    }

    fn step(text: &str) -> Message {
        Notification::new("notifications/progress", Some(Raw::of(text))).into()
    }

    #[tokio::test]
    async fn a_reader_resumes_where_it_stopped() {
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
    async fn the_transcript_is_bounded_and_keeps_the_response() {
        let transcript = transcript();
        let mut behind = transcript.reader(0);
        let large = "x".repeat(MAX_BYTES / 4);
        for _ in 0..8 {
            transcript.write(&step(&large));
        }
        let mut ready = Box::pin(transcript.ready());
        assert!((&mut ready).now_or_never().is_none(), "a reader has not taken this yet");
        assert!(behind.next().await.is_some());
        drop(behind);
        ready.await;
        let huge = Raw::of(&"y".repeat(MAX_BYTES * 2));
        transcript.write(&Message::Response(Response::result(Id::number(1), huge)));
        transcript.finish();
        assert!(transcript.reader(1).next().await.is_none(), "one that lost something is closed");
        assert_eq!(transcript.buffer.lock().events.len(), 1);
        assert!(transcript.reader(8).next().await.unwrap().len() > MAX_BYTES);
    }

    #[tokio::test(start_paused = true)]
    async fn a_finished_transcript_is_kept_for_a_while() {
        let transcript = transcript();
        transcript.finish();
        assert!(!transcript.is_stale());
        tokio::time::advance(RETENTION).await;
        assert!(transcript.is_stale());
    }
}
