//! Messages on standard output, one line each.

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

/// Writes for as long as there is something to write and somebody reads.
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

/// A message as one line. A line break can only stand between the tokens of JSON, where a space
/// means the same.
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
}
