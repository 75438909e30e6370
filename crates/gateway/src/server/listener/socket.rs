//! A connection's bytes, with timeouts.
//!
//! It handles three problems that hyper does not: a request head that never completes, a client
//! that does not read, and a response that is lost because the connection closes while the request
//! is still arriving.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use evermoor_core::security::request_smuggling::RequestInspector;

use super::ConnectionLimits;
use super::state::ConnectionState;

/// A stream to a client.
pub(super) struct ClientSocket<S> {
    stream: S,
    /// What another gateway already read from it.
    read: Bytes,
    state: Arc<ConnectionState>,
    limits: ConnectionLimits,
    /// The client has closed its side.
    over: bool,
    inspector: RequestInspector,
    /// How many requests started before the head being read.
    before: u64,
    /// When the head must be complete. An authenticated client may be idle between requests.
    head_due: Option<Pin<Box<Sleep>>>,
    /// When a client that has stopped reading must have read something.
    write_due: Option<Pin<Box<Sleep>>>,
    close_state: CloseState,
}

enum CloseState {
    Open,
    /// Our side is closed. Until the deadline, up to this many bytes are still read and dropped.
    Lingering(Pin<Box<Sleep>>, usize),
}

impl<S> ClientSocket<S> {
    pub(super) fn new(
        stream: S,
        read: Bytes,
        state: Arc<ConnectionState>,
        limits: ConnectionLimits,
    ) -> Self {
        Self {
            stream,
            read,
            state,
            limits,
            over: false,
            inspector: RequestInspector::default(),
            before: 0,
            head_due: None,
            write_due: None,
            close_state: CloseState::Open,
        }
    }

    /// Whether the client has closed its side.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// The stream, and the bytes that were read from it but not used.
    pub(super) fn into_parts(self) -> (S, Bytes) {
        (self.stream, self.read)
    }

    /// Stops waiting for a head once its request has started.
    fn follow_requests(&mut self) {
        let requests = self.state.requests_started();
        if requests != self.before {
            self.before = requests;
            self.head_due = None;
        }
    }

    fn on_read(&mut self, bytes: &mut [u8]) {
        if bytes.is_empty() {
            return;
        }
        self.inspector.harden(bytes);
        if !self.state.is_busy() {
            self.await_head();
        }
    }

    /// Starts the time for the next head. Without a token, it began with the connection, so that nobody
    /// keeps a slot among the unauthenticated connections with requests that need no token.
    fn await_head(&mut self) {
        let began = if self.state.is_authenticated() { Instant::now() } else { self.state.opened };
        let due = began + self.limits.head;
        self.head_due.get_or_insert_with(|| Box::pin(sleep_until(due)));
    }

    /// Whether the head is overdue.
    fn poll_overdue(&mut self, context: &mut Context<'_>) -> bool {
        if !self.state.is_authenticated() {
            self.await_head();
        }
        if !is_over(&mut self.head_due, context) {
            return false;
        }
        if !self.state.is_busy() {
            return true;
        }
        // Nothing polls again when the request ends, so restart the timer for the next head now.
        self.head_due = Some(Box::pin(sleep_until(Instant::now() + self.limits.head)));
        is_over(&mut self.head_due, context)
    }

    /// Whether the client has read nothing for too long.
    fn poll_stalled(&mut self, context: &mut Context<'_>) -> bool {
        let due = Instant::now() + self.limits.stall;
        self.write_due.get_or_insert_with(|| Box::pin(sleep_until(due)));
        is_over(&mut self.write_due, context)
    }

    fn watch_write<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        match written {
            Poll::Pending if self.poll_stalled(context) => Poll::Ready(Err(timed_out())),
            Poll::Pending => Poll::Pending,
            Poll::Ready(written) => {
                self.write_due = None;
                Poll::Ready(written)
            }
        }
    }
}

fn is_over(due: &mut Option<Pin<Box<Sleep>>>, context: &mut Context<'_>) -> bool {
    due.as_mut().is_some_and(|due| due.as_mut().poll(context).is_ready())
}

fn timed_out() -> io::Error {
    io::ErrorKind::TimedOut.into()
}

impl<S: AsyncRead + Unpin> AsyncRead for ClientSocket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.follow_requests();
        let before = buffer.filled().len();
        if !this.read.is_empty() {
            let count = this.read.len().min(buffer.remaining());
            buffer.put_slice(&this.read.split_to(count));
            this.on_read(&mut buffer.filled_mut()[before..]);
            return Poll::Ready(Ok(()));
        }
        match Pin::new(&mut this.stream).poll_read(context, buffer) {
            Poll::Ready(Ok(())) => {
                this.over = buffer.filled().len() == before && buffer.remaining() > 0;
                this.on_read(&mut buffer.filled_mut()[before..]);
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending if this.poll_overdue(context) => Poll::Ready(Err(timed_out())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ClientSocket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch_write(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.watch_write(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.watch_write(flushed, context)
    }

    /// Closes our side. If the client is still sending, its bytes are read and dropped for a while:
    /// the system answers unread bytes with a reset, which would destroy our response. A connection
    /// that is being handed over stays open.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.state.is_handing_off() {
            return Poll::Ready(Ok(()));
        }
        if let CloseState::Open = this.close_state {
            ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
            if !this.state.has_unread() {
                return Poll::Ready(Ok(()));
            }
            let until = Box::pin(sleep_until(Instant::now() + this.limits.linger));
            this.close_state = CloseState::Lingering(until, this.limits.linger_bytes);
        }
        let CloseState::Lingering(until, left) = &mut this.close_state else {
            return Poll::Ready(Ok(()));
        };
        let mut scratch = [0; 4096];
        loop {
            if until.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut scratch);
            let read = ready!(Pin::new(&mut this.stream).poll_read(context, &mut buffer));
            let count = buffer.filled().len();
            if read.is_err() || count == 0 || count >= *left {
                return Poll::Ready(Ok(()));
            }
            *left -= count;
        }
    }
}
