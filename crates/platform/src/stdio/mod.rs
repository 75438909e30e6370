//! Standard input and output of a program whose protocol runs over them.
//!
//! Reads and writes of pipes can block, so tokio passes each of them to another thread, which costs two
//! wake-ups. On Unix, the system says when a pipe or socket has data and when a small write does not
//! block; then this thread does it itself. The pipes stay in blocking mode, because another program may
//! share them.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use std::io;
use std::io::Write as _;
use std::pin::Pin;

use tokio::io::AsyncRead;

/// Standard input. Must be called within a runtime, once.
pub fn input() -> Pin<Box<dyn AsyncRead + Send>> {
    system::input()
}

/// Writes to standard output if that does not block. Returns whether it did.
pub fn try_write(bytes: &[u8]) -> io::Result<bool> {
    system::try_write(bytes)
}

/// Writes to standard output, however long it takes.
#[expect(clippy::disallowed_methods, reason = "the shim writes the protocol to it")]
pub fn write(bytes: &[u8]) -> io::Result<()> {
    let mut output = std::io::stdout().lock();
    output.write_all(bytes)?;
    output.flush()
}
