//! Messages over a pair of pipes, one to a line: what every stdio server speaks.
//!
//! # Theory of operation
//! One future writes, one reads; neither knows what is at the other end. The writer sends one
//! message at a time and says of each what became of it: a message is *sent* once the pipe took
//! its final newline, *not sent* if the pipe took nothing, or took less than the whole text and its
//! reader is gone, and otherwise nobody knows. A pipe that took part of a line and then nothing
//! more is of no use any more, and the writer ends.
//!
//! The reader takes what comes. A line that is no message is passed over and counted, for servers
//! print banners; one that is too long is dropped as it arrives, and the next one is read. If a
//! lost line was the answer to a call, that call learns of it.

mod lines;

use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::timeout;

use evermoor_core::failure::outcome::Unknown;
use evermoor_core::protocol::envelope::{Id, Message};

use crate::upstream::transport::connection::{LARGEST_REPLY, excerpt};
use crate::upstream::transport::duplex::{Fate, Inbox, Outgoing, SendError};
use lines::{CHUNK, Cut, Lines};

/// How long a pipe may take nothing.
const WRITE_LIMIT: Duration = Duration::from_secs(5);

/// Why the writer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteEnd {
    /// Nobody has anything to send any more.
    Closed,
    /// Nobody reads any more.
    Broken,
    /// The other side has not read for too long.
    Stuck,
}

/// Writes messages for as long as there are any and somebody reads them.
pub(crate) async fn write(
    mut pipe: impl AsyncWrite + Unpin,
    mut outgoing: mpsc::Receiver<Outgoing>,
    inbox: &Inbox,
) -> WriteEnd {
    loop {
        let next = tokio::select! {
            biased;
            () = inbox.closed() => None,
            next = outgoing.recv() => next,
        };
        let Some(Outgoing { text, fate }) = next else { return WriteEnd::Closed };
        // Cancelled while it waited: it must never be sent.
        if fate.is_closed() {
            continue;
        }
        let mut line = Line { text: one_line(text), written: 0, fate: Some(fate) };
        match line.write(&mut pipe).await {
            Ok(()) => line.tell(Ok(())),
            Err(Trouble::Broken) => {
                // Whoever hears of it can see that no other message will get out.
                outgoing.close();
                line.tell(Err(line.when_nobody_reads()));
                return WriteEnd::Broken;
            }
            // A server that does one thing at a time reads again when it has done it.
            Err(Trouble::Stuck) if line.written == 0 && inbox.at_work() > 0 => {
                line.tell(Err(SendError::Busy));
            }
            Err(Trouble::Stuck) => {
                outgoing.close();
                line.tell(Err(line.when_in_doubt()));
                return WriteEnd::Stuck;
            }
        }
    }
}

/// A message on its way into the pipe. Dropped half way, it still says what became of it.
struct Line {
    text: Bytes,
    written: usize,
    fate: Option<Fate>,
}

enum Trouble {
    Broken,
    Stuck,
}

impl Line {
    async fn write(&mut self, pipe: &mut (impl AsyncWrite + Unpin)) -> Result<(), Trouble> {
        while self.written < self.text.len() {
            match timeout(WRITE_LIMIT, pipe.write(&self.text[self.written..])).await {
                Ok(Ok(0) | Err(_)) => return Err(Trouble::Broken),
                Ok(Ok(taken)) => self.written += taken,
                Err(_) => return Err(Trouble::Stuck),
            }
        }
        match timeout(WRITE_LIMIT, pipe.flush()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Trouble::Broken),
            Err(_) => Err(Trouble::Stuck),
        }
    }

    fn tell(&mut self, sent: Result<(), SendError>) {
        if let Some(fate) = self.fate.take() {
            fate.send(sent);
        }
    }

    /// The reader has gone. Without its last brace a message is none; without its newline it is one
    /// to a reader that takes what it has at the end.
    fn when_nobody_reads(&self) -> SendError {
        if self.written + 1 < self.text.len() {
            SendError::NotSent("its standard input is closed".into())
        } else {
            SendError::Unknown("its standard input was closed as the call was sent".into())
        }
    }

    fn when_in_doubt(&self) -> SendError {
        match self.written {
            0 => SendError::NotSent("it does not read its standard input".into()),
            _ => SendError::Unknown("it stopped reading in the middle of the call".into()),
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let sent = self.when_in_doubt();
        self.tell(Err(sent));
    }
}

/// A message as one line. A raw line break in JSON can only stand between its parts.
fn one_line(text: Bytes) -> Bytes {
    let mut line = BytesMut::with_capacity(text.len() + 1);
    line.extend_from_slice(&text);
    for byte in line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
    line.extend_from_slice(b"\n");
    line.freeze()
}

/// Reads messages until the pipe ends.
pub(crate) async fn read(mut pipe: impl AsyncRead + Unpin, inbox: &Inbox) -> io::Result<()> {
    let mut lines = Lines::new(LARGEST_REPLY);
    let mut garbage = 0_u64;
    loop {
        lines.buffer.reserve(CHUNK);
        if pipe.read_buf(&mut lines.buffer).await? == 0 {
            lines.buffer.extend_from_slice(b"\n");
            take_all(&mut lines, inbox, &mut garbage);
            return Ok(());
        }
        take_all(&mut lines, inbox, &mut garbage);
    }
}

fn take_all(lines: &mut Lines, inbox: &Inbox, garbage: &mut u64) {
    while let Some(cut) = lines.next() {
        match cut {
            Cut::Line(line) if line.trim_ascii().is_empty() => {}
            Cut::Line(line) => match Message::parse(&line) {
                Ok(message) => inbox.deliver(message),
                Err(rejected) => {
                    *garbage += 1;
                    if garbage.is_power_of_two() {
                        tracing::debug!(lines = *garbage, "what is no message is passed over");
                    }
                    if let Some(number) = rejected.id.and_then(number) {
                        let detail = format!("the reply is not JSON-RPC: {}", excerpt(&line));
                        inbox.spoilt(number, Unknown::MalformedReply, detail);
                    }
                }
            },
            Cut::TooLong(id) => {
                tracing::warn!("a line of more than {} MiB was dropped", LARGEST_REPLY >> 20);
                if let Some(number) = id.and_then(number) {
                    let detail = format!("the reply is larger than {} MiB", LARGEST_REPLY >> 20);
                    inbox.spoilt(number, Unknown::ReplyTooLarge, detail);
                }
            }
        }
    }
}

/// The number of a call of ours: we write no other ids.
fn number(id: Id) -> Option<u64> {
    id.raw().read().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::transport::connection::{CallError, Reply};
    use crate::upstream::transport::duplex::{Duplex, channel};
    use evermoor_core::protocol::envelope::{Outcome, Request};
    use evermoor_core::protocol::json::Raw;
    use tokio::io::{AsyncBufReadExt as _, BufReader, DuplexStream};
    use tokio::task::JoinHandle;

    fn request(filler: usize) -> Request {
        let params = Raw::of(&serde_json::json!({ "filler": "x".repeat(filler) }));
        Request::new(Id::number(1), "tools/call", Some(params))
    }

    struct Ends {
        duplex: std::sync::Arc<Duplex>,
        inbox: Inbox,
        /// What the server reads, and what it writes to.
        stdin: DuplexStream,
        stdout: DuplexStream,
        writing: JoinHandle<WriteEnd>,
        _incoming: mpsc::Receiver<crate::upstream::transport::connection::Incoming>,
    }

    #[expect(clippy::disallowed_methods, reason = "the runtime of the test ends it")]
    fn ends(capacity: usize) -> Ends {
        let (duplex, inbox, outgoing, incoming) = channel();
        let (ours, stdin) = tokio::io::duplex(capacity);
        let (stdout, theirs) = tokio::io::duplex(1 << 16);
        let (writer, reader) = (inbox.clone(), inbox.clone());
        let writing = tokio::spawn(async move { write(ours, outgoing, &writer).await });
        drop(tokio::spawn(async move { read(theirs, &reader).await }));
        Ends { duplex: duplex.into(), inbox, stdin, stdout, writing, _incoming: incoming }
    }

    #[expect(clippy::disallowed_methods, reason = "the runtime of the test ends it")]
    fn call(ends: &Ends, filler: usize) -> JoinHandle<Result<Reply, CallError>> {
        let duplex = std::sync::Arc::clone(&ends.duplex);
        tokio::spawn(async move { duplex.call(&request(filler), None).await })
    }

    async fn result(call: JoinHandle<Result<Reply, CallError>>) -> String {
        match call.await.expect("no panic") {
            Ok(Reply::Whole(response)) => match response.outcome {
                Outcome::Result(result) => result.as_str().to_owned(),
                Outcome::Error(error) => error.as_str().to_owned(),
            },
            Ok(Reply::Stream(_)) => "stream".into(),
            Err(CallError::NotSent(_)) => "not sent".into(),
            Err(CallError::Busy { .. } | CallError::Unavailable { .. }) => "busy".into(),
            Err(CallError::Unknown { why, .. }) => format!("unknown {why:?}"),
            Err(CallError::AuthRequired(_)) => "auth".into(),
        }
    }

    #[tokio::test]
    async fn an_answer_is_found_among_whatever_else_is_printed() {
        let mut ends = ends(1 << 16);
        let call = call(&ends, 1);
        let mut line = String::new();
        BufReader::new(&mut ends.stdin).read_line(&mut line).await.unwrap();
        assert!(line.ends_with("}\n") && line.contains("\"id\":1,"), "{line}");
        let said = b"Welcome!\n\x1b[32mready\x1b[0m\n\n[]\n\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n";
        ends.stdout.write_all(said).await.unwrap();
        assert_eq!(result(call).await, "{}");
    }

    #[tokio::test]
    async fn a_message_is_one_line_whatever_breaks_it_had() {
        let pretty = Bytes::from_static(b"{\n  \"a\": \"b\\n\"\r\n}");
        assert_eq!(&one_line(pretty)[..], b"{   \"a\": \"b\\n\"  }\n");
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_that_never_reads_has_not_been_sent_a_call() {
        let ends = ends(16);
        ends.duplex
            .notify(&evermoor_core::protocol::envelope::Notification::new("x", None))
            .await
            .ok();
        let refused = call(&ends, 1);
        assert_eq!(result(refused).await, "not sent");
        assert_eq!(ends.writing.await.unwrap(), WriteEnd::Stuck);
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_that_stops_reading_half_way_may_have_got_the_call() {
        let ends = ends(16);
        assert_eq!(result(call(&ends, 1)).await, "unknown ConnectionReset");
        assert_eq!(ends.writing.await.unwrap(), WriteEnd::Stuck);
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_that_is_at_work_is_busy_and_not_dead() {
        let mut ends = ends(80);
        let first = call(&ends, 1);
        let mut line = String::new();
        BufReader::new(&mut ends.stdin).read_line(&mut line).await.unwrap();
        // Fills the pipe to the brim while the first call is at work.
        let fill =
            evermoor_core::protocol::envelope::Notification::new("n".repeat(50).as_str(), None);
        assert_eq!(fill.to_bytes().len(), 79);
        ends.duplex.notify(&fill).await.unwrap();
        assert_eq!(result(call(&ends, 1)).await, "busy");
        ends.stdout.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n").await.unwrap();
        assert_eq!(result(first).await, "1");
        assert!(!ends.writing.is_finished());
    }

    #[tokio::test]
    async fn half_a_line_to_a_program_that_is_gone_was_not_sent() {
        let mut ends = ends(16);
        let refused = call(&ends, 100);
        ends.stdin.read_exact(&mut [0; 20]).await.unwrap();
        drop(ends.stdin);
        assert_eq!(result(refused).await, "not sent");
        assert_eq!(ends.writing.await.unwrap(), WriteEnd::Broken);
    }

    #[tokio::test]
    async fn a_line_without_its_newline_may_have_been_read() {
        let whole =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"filler":"x"}}"#.len();
        let mut ends = ends(1);
        let call = call(&ends, 1);
        ends.stdin.read_exact(&mut vec![0; whole - 1]).await.unwrap();
        tokio::task::yield_now().await;
        drop(ends.stdin);
        assert_eq!(result(call).await, "unknown ConnectionReset");
    }

    #[tokio::test]
    async fn a_call_cancelled_while_it_waits_is_never_written() {
        let mut ends = ends(16);
        let (first, second) = (call(&ends, 100), call(&ends, 7));
        tokio::task::yield_now().await;
        second.abort();
        let _ = second.await;
        let third = call(&ends, 9);
        let mut lines = BufReader::new(&mut ends.stdin).lines();
        let mut methods = Vec::new();
        while methods.len() < 3 {
            let line = lines.next_line().await.unwrap().unwrap();
            methods.push(line.split("\"filler\":").nth(1).map(|filler| filler.len()));
        }
        // The one that waited is not there; that it is not wanted any more is told.
        assert_eq!(methods, [Some(104), None, Some(13)]);
        drop((first, third));
    }

    #[tokio::test]
    async fn an_answer_that_is_too_large_spoils_its_own_call_only() {
        let mut ends = ends(1 << 16);
        let (first, second) = (call(&ends, 1), call(&ends, 1));
        let mut lines = BufReader::new(&mut ends.stdin).lines();
        for _ in 0..2 {
            lines.next_line().await.unwrap();
        }
        ends.stdout.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"").await.unwrap();
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..32 {
            ends.stdout.write_all(&chunk).await.unwrap();
        }
        ends.stdout.write_all(b"\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":2}\n").await.unwrap();
        assert_eq!(result(first).await, "unknown ReplyTooLarge");
        assert_eq!(result(second).await, "2");
    }

    #[tokio::test]
    async fn an_answer_that_is_no_json_rpc_spoils_its_call() {
        let mut ends = ends(1 << 16);
        let call = call(&ends, 1);
        BufReader::new(&mut ends.stdin).read_line(&mut String::new()).await.unwrap();
        ends.stdout.write_all(b"{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}\n").await.unwrap();
        assert_eq!(result(call).await, "unknown MalformedReply");
        assert_eq!(ends.inbox.at_work(), 0);
    }
}
