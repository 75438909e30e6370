//! Reads and writes messages on stdin and stdout, one per line.

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use evermoor_core::protocol::envelope::Id;
use evermoor_core::protocol::oversize::IdFinder;

/// A line from the editor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(Bytes),
    /// Larger than the gateway accepts. The line was skipped; its id is kept if it had one.
    TooLong(Option<Id>),
}

/// The largest message that the gateway accepts.
pub(super) const MAX_LINE: usize = 4 << 20;

/// The next line that is not blank, or `None` at the end of the input.
pub(super) async fn next_line(
    input: &mut (impl AsyncBufRead + Unpin),
    longest: usize,
) -> std::io::Result<Option<Line>> {
    let mut line = BytesMut::new();
    let mut skipped: Option<IdFinder> = None;
    loop {
        let piece = input.fill_buf().await?;
        let at_end = piece.is_empty();
        let end = piece.iter().position(|byte| *byte == b'\n');
        let text = &piece[..end.unwrap_or(piece.len())];
        match &mut skipped {
            Some(finder) => finder.feed(text),
            None if line.len() + text.len() > longest => {
                let mut finder = IdFinder::default();
                finder.feed(&std::mem::take(&mut line));
                finder.feed(text);
                skipped = Some(finder);
            }
            None => line.extend_from_slice(text),
        }
        let used = text.len() + usize::from(end.is_some());
        input.consume(used);
        if !at_end && end.is_none() {
            continue;
        }
        if let Some(finder) = skipped {
            return Ok(Some(Line::TooLong(finder.id())));
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            return Ok(Some(Line::Text(line.freeze())));
        }
        if at_end {
            return Ok(None);
        }
        line.clear();
    }
}

/// Writes lines until the channel closes or the reader goes away.
pub(super) async fn write_lines(
    mut lines: mpsc::Receiver<Bytes>,
    mut output: impl AsyncWrite + Unpin,
) {
    while let Some(line) = lines.recv().await {
        let written = match output.write_all(&one_line(&line)).await {
            Ok(()) => output.flush().await,
            Err(error) => Err(error),
        };
        if written.is_err() {
            return;
        }
    }
}

/// A message as one line. In JSON, a line break can only occur between tokens, where a space is
/// equivalent.
fn one_line(message: &Bytes) -> Bytes {
    let mut line = BytesMut::with_capacity(message.len() + 1);
    line.extend(message.iter().map(
        |byte| {
            if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }
        },
    ));
    line.extend_from_slice(b"\n");
    line.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_many_lines_becomes_one_line() {
        assert_eq!(&one_line(&Bytes::from_static(b"{\r\n \"a\":1\n}"))[..], b"{   \"a\":1 }\n");
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_its_id_is_kept() {
        let text = b"one\n\n  \n{\"id\":7,\"params\":\"much too long\"}\nexactly-16-bytes\nlast";
        for size in [1, 3, 7, 1024] {
            let mut input = tokio::io::BufReader::with_capacity(size, &text[..]);
            let mut lines = Vec::new();
            while let Some(line) = next_line(&mut input, 16).await.unwrap() {
                lines.push(line);
            }
            let whole = |text: &'static str| Line::Text(Bytes::from_static(text.as_bytes()));
            let message_too_large = Line::TooLong(Some(Id::number(7)));
            assert_eq!(
                lines,
                [whole("one"), message_too_large, whole("exactly-16-bytes"), whole("last")]
            );
        }
    }
}
