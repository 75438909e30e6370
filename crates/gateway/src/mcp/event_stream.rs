//! Streams of events as bodies, with a comment now and then to show that somebody is there.

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

/// Something that has events to tell, one after the other.
pub(super) trait Events: Send + 'static {
    /// The next event; `None` at the end. Nothing is lost if the future is dropped.
    fn next(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

/// A stream that ends when its events do.
pub(super) fn response(events: impl Events) -> HttpResponse {
    with_headers(Body::from_stream(body(events, KEEPALIVE_INTERVAL)))
}

/// A stream of news, which also ends when the news come from elsewhere.
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

/// A stream with nothing on it, for a call that nobody wants answered.
pub(super) fn empty() -> HttpResponse {
    with_headers(Body::empty())
}

/// The events of a call, beginning with one that says nothing.
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
