//! Messages over a pair of pipes, one per line.
//!
//! # Theory of operation
//! One future writes, one reads. The writer sends one message at a time and reports the result of
//! each: a message is *sent* once the pipe accepted its final newline. It is *not sent* if the pipe
//! accepted nothing, or less than the whole text before its reader closed it. Otherwise the result is
//! *unknown*. If a pipe accepts part of a line and then nothing more, it is unusable and the writer
//! ends.
//!
//! The reader skips and counts lines that are not messages, because servers print banners. A line
//! that is too long is dropped as it arrives. If a dropped line was the answer to a call, that call
//! fails. [`lines`] splits the output into lines.

mod lines;

use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::timeout;

use evermoor_core::failure::outcome::Unknown;
use evermoor_core::protocol::envelope::Id;

use crate::system::budget::{Intake, NoRoom};
use crate::system::message_parser;
use crate::upstream::transport::connection::{LARGEST_REPLY, excerpt};
use crate::upstream::transport::duplex::{Inbox, Outgoing, SendError, SendReceipt};
use lines::{CHUNK, LineSplitter, NextLine};

/// How long a pipe may accept nothing.
const WRITE_LIMIT: Duration = Duration::from_secs(5);

/// Why the writer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteEnd {
    /// The channel was closed.
    Closed,
    /// The process closed its input.
    Broken,
    /// The process has not read for too long.
    Stuck,
}

/// Writes messages until the channel or the pipe is closed.
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
        let Some(Outgoing { text, receipt }) = next else { return WriteEnd::Closed };
        // It was cancelled while it waited, so it must never be sent.
        if receipt.is_closed() {
            continue;
        }
        let mut line = PendingLine { text: one_line(text), written: 0, receipt: Some(receipt) };
        match line.write(&mut pipe).await {
            Ok(()) => line.report(Ok(())),
            Err(WriteError::Broken) => {
                // Closed before the report, so that its receiver sees a closed channel.
                outgoing.close();
                line.report(Err(line.result_if_closed()));
                return WriteEnd::Broken;
            }
            // A server that handles one request at a time reads again when it has finished.
            Err(WriteError::Stuck) if line.written == 0 && inbox.in_flight() > 0 => {
                line.report(Err(SendError::Busy));
            }
            Err(WriteError::Stuck) => {
                outgoing.close();
                line.report(Err(line.result_if_open()));
                return WriteEnd::Stuck;
            }
        }
    }
}

/// A message that is being written. If it is dropped half way, it still reports its result.
struct PendingLine {
    text: Bytes,
    written: usize,
    receipt: Option<SendReceipt>,
}

enum WriteError {
    Broken,
    Stuck,
}

impl PendingLine {
    async fn write(&mut self, pipe: &mut (impl AsyncWrite + Unpin)) -> Result<(), WriteError> {
        while self.written < self.text.len() {
            match timeout(WRITE_LIMIT, pipe.write(&self.text[self.written..])).await {
                Ok(Ok(0) | Err(_)) => return Err(WriteError::Broken),
                Ok(Ok(accepted)) => self.written += accepted,
                Err(_) => return Err(WriteError::Stuck),
            }
        }
        match timeout(WRITE_LIMIT, pipe.flush()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(WriteError::Broken),
            Err(_) => Err(WriteError::Stuck),
        }
    }

    fn report(&mut self, result: Result<(), SendError>) {
        if let Some(receipt) = self.receipt.take() {
            receipt.send(result);
        }
    }

    /// The result if the reader closed the pipe. Without its last brace the message is incomplete;
    /// without its newline it may still be read at the end of the input.
    fn result_if_closed(&self) -> SendError {
        if self.written + 1 < self.text.len() {
            SendError::NotSent("its standard input is closed".into())
        } else {
            SendError::Unknown("its standard input was closed as the call was sent".into())
        }
    }

    /// The result if the pipe is still open.
    fn result_if_open(&self) -> SendError {
        match self.written {
            0 => SendError::NotSent("it does not read its standard input".into()),
            _ => SendError::Unknown("it stopped reading in the middle of the call".into()),
        }
    }
}

impl Drop for PendingLine {
    fn drop(&mut self) {
        let result = self.result_if_open();
        self.report(Err(result));
    }
}

/// A message as one line. In JSON, a raw line break can only occur between tokens.
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
pub(crate) async fn read(
    mut pipe: impl AsyncRead + Unpin,
    inbox: &Inbox,
    intake: Intake,
) -> io::Result<()> {
    let mut reader = MessageReader {
        lines: LineSplitter::new(LARGEST_REPLY),
        inbox,
        intake,
        skipped: 0,
        full: None,
    };
    loop {
        reader.lines.buffer.reserve(CHUNK);
        let read = pipe.read_buf(&mut reader.lines.buffer).await?;
        if read == 0 {
            reader.lines.buffer.extend_from_slice(b"\n");
            reader.take_all().await;
            return Ok(());
        }
        if !reader.lines.is_dropping()
            && let Err(no_room) = reader.intake.admit(read).await
        {
            reader.full = reader.lines.drop_line().then_some(no_room);
        }
        reader.take_all().await;
        reader.intake.keep_only(reader.lines.buffer.len());
    }
}

/// Reads the lines of one process.
struct MessageReader<'a> {
    lines: LineSplitter,
    inbox: &'a Inbox,
    intake: Intake,
    /// How many lines were not messages.
    skipped: u64,
    /// Why the current line is dropped, if there was no room for it.
    full: Option<NoRoom>,
}

impl MessageReader<'_> {
    /// Takes all lines that have arrived.
    async fn take_all(&mut self) {
        while let Some(next) = self.lines.next() {
            match next {
                NextLine::Line(line) if line.trim_ascii().is_empty() => {}
                NextLine::Line(line) => self.take(line).await,
                NextLine::Dropped(id) => self.lose(id),
            }
        }
    }

    async fn take(&mut self, line: Bytes) {
        let (line, charge) = self.intake.take(line);
        match message_parser::parse(&line).await {
            Ok(message) => self.inbox.deliver(message, charge),
            Err(rejected) => {
                self.skipped += 1;
                if self.skipped.is_power_of_two() {
                    tracing::debug!(lines = self.skipped, "skipped lines that are not messages");
                }
                if let Some(number) = rejected.id.and_then(number) {
                    let detail = format!("the reply is not JSON-RPC: {}", excerpt(&line));
                    self.inbox.lose(number, Unknown::MalformedReply, detail);
                }
            }
        }
    }

    /// The line with this id was dropped.
    fn lose(&mut self, id: Option<Id>) {
        let why = match self.full.take() {
            Some(no_room) => no_room.to_string(),
            None => {
                tracing::warn!("dropped a line of more than {} MiB", LARGEST_REPLY >> 20);
                format!("the reply is larger than {} MiB", LARGEST_REPLY >> 20)
            }
        };
        if let Some(number) = id.and_then(number) {
            self.inbox.lose(number, Unknown::ReplyTooLarge, why);
        }
    }
}

/// The number of a call; all ids we send are numbers.
fn number(id: Id) -> Option<u64> {
    id.raw().read().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::transport::connection::{CallError, CallReply};
    use crate::upstream::transport::duplex::{Duplex, channel};
    use crate::upstream::transport::outbound::OutboundCall;
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
        _incoming: mpsc::Receiver<crate::upstream::transport::connection::ConnectionEvent>,
    }

    #[expect(clippy::disallowed_methods, reason = "the runtime of the test ends it")]
    fn ends(capacity: usize) -> Ends {
        let (duplex, inbox, outgoing, incoming) = channel();
        let (ours, stdin) = tokio::io::duplex(capacity);
        let (stdout, theirs) = tokio::io::duplex(1 << 16);
        let (writer, reader) = (inbox.clone(), inbox.clone());
        let writing = tokio::spawn(async move { write(ours, outgoing, &writer).await });
        drop(tokio::spawn(async move {
            read(theirs, &reader, Intake::new(&std::sync::Arc::default())).await
        }));
        Ends { duplex: duplex.into(), inbox, stdin, stdout, writing, _incoming: incoming }
    }

    #[expect(clippy::disallowed_methods, reason = "the runtime of the test ends it")]
    fn call(ends: &Ends, filler: usize) -> JoinHandle<Result<CallReply, CallError>> {
        let duplex = std::sync::Arc::clone(&ends.duplex);
        tokio::spawn(async move {
            let request = request(filler);
            duplex.call(OutboundCall::of_gateway(&request)).await
        })
    }

    async fn result(call: JoinHandle<Result<CallReply, CallError>>) -> String {
        match call.await.expect("no panic") {
            Ok(CallReply::Whole(answer)) => match answer.response.outcome {
                Outcome::Result(result) => result.as_str().to_owned(),
                Outcome::Error(error) => error.as_str().to_owned(),
            },
            Ok(CallReply::Stream(_)) => "stream".into(),
            Err(CallError::NotSent(_)) => "not sent".into(),
            Err(CallError::Busy { .. } | CallError::Unavailable { .. }) => "busy".into(),
            Err(CallError::Unknown { why, .. }) => format!("unknown {why:?}"),
            Err(CallError::AuthRequired(_)) => "auth".into(),
        }
    }

    #[tokio::test]
    async fn an_answer_is_found_among_other_output() {
        let mut ends = ends(1 << 16);
        let call = call(&ends, 1);
        let mut line = String::new();
        BufReader::new(&mut ends.stdin).read_line(&mut line).await.unwrap();
        assert!(line.ends_with("}\n") && line.contains("\"id\":1,"), "{line}");
        let output = b"Welcome!\n\x1b[32mready\x1b[0m\n\n[]\n\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n";
        ends.stdout.write_all(output).await.unwrap();
        assert_eq!(result(call).await, "{}");
    }

    #[tokio::test]
    async fn a_message_is_written_as_one_line() {
        let pretty = Bytes::from_static(b"{\n  \"a\": \"b\\n\"\r\n}");
        assert_eq!(&one_line(pretty)[..], b"{   \"a\": \"b\\n\"  }\n");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_to_a_program_that_never_reads_is_not_sent() {
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
    async fn a_call_to_a_program_that_stops_reading_half_way_is_unknown() {
        let ends = ends(16);
        assert_eq!(result(call(&ends, 1)).await, "unknown ConnectionReset");
        assert_eq!(ends.writing.await.unwrap(), WriteEnd::Stuck);
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_with_a_call_in_flight_is_busy_and_not_dead() {
        let mut ends = ends(80);
        let first = call(&ends, 1);
        let mut line = String::new();
        BufReader::new(&mut ends.stdin).read_line(&mut line).await.unwrap();
        // Fills the pipe while the first call is in flight.
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
    async fn half_a_line_to_a_program_that_exited_is_not_sent() {
        let mut ends = ends(16);
        let refused = call(&ends, 100);
        ends.stdin.read_exact(&mut [0; 20]).await.unwrap();
        drop(ends.stdin);
        assert_eq!(result(refused).await, "not sent");
        assert_eq!(ends.writing.await.unwrap(), WriteEnd::Broken);
    }

    #[tokio::test]
    async fn a_line_without_its_newline_is_unknown() {
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
        // The second call was never written; the line without filler is its cancellation.
        assert_eq!(methods, [Some(104), None, Some(13)]);
        drop((first, third));
    }

    #[tokio::test]
    async fn an_answer_that_is_too_large_fails_its_own_call_only() {
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
    async fn an_answer_that_is_not_json_rpc_fails_its_call() {
        let mut ends = ends(1 << 16);
        let call = call(&ends, 1);
        BufReader::new(&mut ends.stdin).read_line(&mut String::new()).await.unwrap();
        ends.stdout.write_all(b"{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}\n").await.unwrap();
        assert_eq!(result(call).await, "unknown MalformedReply");
        assert_eq!(ends.inbox.in_flight(), 0);
    }
}
