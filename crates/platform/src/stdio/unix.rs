//! Standard input and output on Unix.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, Interest, ReadBuf};

/// A write of this size to a pipe or socket that is ready does not block: `PIPE_BUF`.
const ATOMIC: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// Files cannot be waited for; reads of them do not block for long.
pub(super) fn input() -> Pin<Box<dyn AsyncRead + Send>> {
    let duplicate = std::io::stdin().as_fd().try_clone_to_owned();
    match duplicate.and_then(WatchedInput::new) {
        Ok(input) => Box::pin(input),
        Err(_) => Box::pin(tokio::io::stdin()),
    }
}

struct WatchedInput(AsyncFd<OwnedFd>);

impl WatchedInput {
    #[expect(unsafe_code, reason = "the runtime cannot know that the descriptor stays open")]
    fn new(input: OwnedFd) -> io::Result<Self> {
        // SAFETY: the descriptor is owned, and closed only after it is deregistered.
        let input = unsafe { AsyncFd::register_with_interest(input, Interest::READABLE) }?;
        Ok(Self(input))
    }
}

impl AsyncRead for WatchedInput {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.0.poll_read_ready(context))?;
            // The runtime hears only of changes, so ask whether there is still something to read.
            if !is_ready(self.0.get_ref(), PollFlags::IN)? {
                ready.clear_ready();
                continue;
            }
            let read =
                retry_on_intr(|| rustix::io::read(self.0.get_ref(), buffer.initialize_unfilled()))?;
            buffer.advance(read);
            return Poll::Ready(Ok(()));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the shim writes the protocol to it")]
pub(super) fn try_write(bytes: &[u8]) -> io::Result<bool> {
    let output = std::io::stdout();
    if bytes.len() > ATOMIC || !is_ready(&output, PollFlags::OUT)? {
        return Ok(false);
    }
    match retry_on_intr(|| rustix::io::write(&output, bytes))? {
        written if written == bytes.len() => Ok(true),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Whether a read or write would not block: there is room or data, or the other end is closed.
fn is_ready(descriptor: &impl AsFd, wanted: PollFlags) -> io::Result<bool> {
    let mut asked = [PollFd::new(descriptor, wanted)];
    Ok(retry_on_intr(|| poll(&mut asked, Some(&Timespec::default())))? > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn a_pipe_is_read_as_data_arrives_and_to_its_end() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut input = WatchedInput::new(OwnedFd::from(reader)).unwrap();
        let mut two = [0; 2];
        writer.write_all(b"three").unwrap();
        for wanted in [b"th", b"re"] {
            input.read_exact(&mut two).await.unwrap();
            assert_eq!(&two, wanted);
        }
        assert_eq!(input.read_u8().await.unwrap(), b'e');
        let (more, ()) = tokio::join!(input.read_u8(), async { writer.write_all(b"x").unwrap() });
        assert_eq!(more.unwrap(), b'x');
        drop(writer);
        assert_eq!(input.read(&mut two).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_full_pipe_is_not_ready_for_a_write() {
        let (reader, writer) = std::io::pipe().unwrap();
        assert!(is_ready(&writer, PollFlags::OUT).unwrap());
        while is_ready(&writer, PollFlags::OUT).unwrap() {
            rustix::io::write(&writer, &[0; ATOMIC]).unwrap();
        }
        drop(reader);
        assert!(is_ready(&writer, PollFlags::OUT).unwrap(), "a write fails at once");
    }
}
