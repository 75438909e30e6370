//! Standard input and output on Windows, where every read and write may block.

use std::io;
use std::pin::Pin;

use tokio::io::AsyncRead;

pub(super) fn input() -> Pin<Box<dyn AsyncRead + Send>> {
    Box::pin(tokio::io::stdin())
}

pub(super) fn try_write(_: &[u8]) -> io::Result<bool> {
    Ok(false)
}
