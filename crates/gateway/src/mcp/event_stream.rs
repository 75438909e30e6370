//! SSE response bodies, with keep-alive comments while there are no events.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use futures_util::Stream;
use http::header;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use evermoor_core::protocol::sse;

use super::exchange::transcript::TranscriptReader;
use super::session::handler::KEEPALIVE_INTERVAL;

/// A source of SSE events.
pub(super) trait Events: Send + 'static {
    /// The next event; `None` at the end. Cancel safe.
    fn next(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

/// A response whose stream ends with its events.
pub(super) fn response(events: impl Events) -> HttpResponse {
    with_headers(Body::from_stream(body(events, KEEPALIVE_INTERVAL)))
}

/// A response whose stream also ends when this gateway stops serving, so that the client reconnects
/// to its successor.
pub(super) fn until_moved(events: impl Events, moved: CancellationToken) -> HttpResponse {
    response(UntilMoved { events, moved })
}

struct UntilMoved<E> {
    events: E,
    moved: CancellationToken,
}

impl<E: Events> Events for UntilMoved<E> {
    async fn next(&mut self) -> Option<Bytes> {
        self.moved.run_until_cancelled(self.events.next()).await?
    }
}

/// A response without events, for a cancelled call.
pub(super) fn empty() -> HttpResponse {
    with_headers(Body::empty())
}

/// A response with the events of a call, after an optional priming event.
pub(super) fn transcript(beginning: Option<Bytes>, reader: TranscriptReader) -> HttpResponse {
    response(TranscriptEvents { beginning, reader })
}

struct TranscriptEvents {
    beginning: Option<Bytes>,
    reader: TranscriptReader,
}

impl Events for TranscriptEvents {
    async fn next(&mut self) -> Option<Bytes> {
        match self.beginning.take() {
            Some(beginning) => Some(beginning),
            None => self.reader.next().await,
        }
    }
}

fn with_headers(body: Body) -> HttpResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store, no-transform"),
    ];
    (headers, body).into_response()
}

fn body(
    events: impl Events,
    pause: Duration,
) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
    let start = (events, Instant::now() + pause);
    futures_util::stream::unfold(start, move |(mut events, alive_at)| async move {
        let event = tokio::select! {
            biased;
            event = events.next() => event?,
            () = sleep_until(alive_at) => sse::KEEPALIVE,
        };
        Some((Ok(event), (events, Instant::now() + pause)))
    })
}
