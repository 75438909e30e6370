//! Request and response bodies that report to their connection.
//!
//! A request body must arrive at a minimum rate, and reports if the rest of it is not read. A
//! response body reports when it is complete, because the next request may start then.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};

use super::ConnectionLimits;
use super::state::{ConnectionState, RequestProgress};

/// The body of a request.
pub(super) struct TimedRequestBody<B: HttpBody = Incoming> {
    body: B,
    whole: bool,
    state: Arc<ConnectionState>,
    limits: ConnectionLimits,
    /// The end of the current measuring window, and how many bytes arrived in it.
    window: Option<Pin<Box<Sleep>>>,
    opened: usize,
}

/// The body of a request arrived too slowly.
#[derive(Debug, thiserror::Error)]
#[error("the request arrived too slowly")]
pub(super) struct TooSlow;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl<B: HttpBody> TimedRequestBody<B> {
    pub(super) fn new(body: B, state: Arc<ConnectionState>, limits: ConnectionLimits) -> Self {
        Self { body, whole: false, state, limits, window: None, opened: 0 }
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> TimedRequestBody<B>
where
    B::Error: Into<BoxError>,
{
    /// Whether the window has ended with too few bytes.
    fn poll_slow(&mut self, context: &mut Context<'_>) -> bool {
        loop {
            let end = Instant::now() + self.limits.body_rate_window;
            let window = self.window.get_or_insert_with(|| Box::pin(sleep_until(end)));
            if window.as_mut().poll(context).is_pending() {
                return false;
            }
            if self.opened < self.limits.min_bytes_per_window() {
                return true;
            }
            (self.window, self.opened) = (None, 0);
        }
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for TimedRequestBody<B>
where
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                this.opened += frame.data_ref().map_or(0, Bytes::len);
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(None) => {
                this.whole = true;
                Poll::Ready(None)
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            Poll::Pending if this.poll_slow(context) => {
                this.whole = true;
                this.state.set_progress(RequestProgress::TooSlow);
                Poll::Ready(Some(Err(TooSlow.into())))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B: HttpBody> Drop for TimedRequestBody<B> {
    fn drop(&mut self) {
        if !self.whole && !self.body.is_end_stream() {
            self.state.set_progress(RequestProgress::Unread);
        }
    }
}

/// The body of a response.
pub(super) struct TimedResponseBody {
    body: Body,
    state: Arc<ConnectionState>,
}

impl TimedResponseBody {
    pub(super) fn new(body: Body, state: Arc<ConnectionState>) -> Self {
        Self { body, state }
    }
}

impl HttpBody for TimedResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for TimedResponseBody {
    fn drop(&mut self) {
        self.state.end_request();
    }
}
