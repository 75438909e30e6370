//! Log lines: the newest, and a stream of new ones.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use http::header;
use serde::Deserialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use evermoor_core::api::{LogLine, LogLines};
use evermoor_core::protocol::sse;

use crate::monitoring::log;
use crate::server::control::ControlApi;

const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// How many lines a response has by default.
const DEFAULT_COUNT: usize = 200;

#[derive(Deserialize)]
pub(crate) struct LogsQuery {
    /// Only of this upstream, which may no longer be configured.
    upstream: Option<String>,
    lines: Option<usize>,
}

pub(crate) async fn list(Query(query): Query<LogsQuery>) -> Json<LogLines> {
    let count = query.lines.unwrap_or(DEFAULT_COUNT);
    let tail = log::here().map(|log| log.tail(query.upstream.as_deref(), count).0);
    Json(LogLines { lines: tail.unwrap_or_default() })
}

/// Streams new lines, after the newest `lines` if that is set.
pub(crate) async fn follow(
    State(control): State<Arc<ControlApi>>,
    Query(query): Query<LogsQuery>,
) -> Response {
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    let Some(log) = log::here() else { return (headers, Body::empty()).into_response() };
    let (before, more) = log.tail(query.upstream.as_deref(), query.lines.unwrap_or(0));
    let follower = Follower { before: before.into_iter(), more, upstream: query.upstream };
    let lines =
        futures_util::stream::unfold((follower, control), async |(mut follower, control)| {
            let event = control.moved.run_until_cancelled(follower.next()).await??;
            Some((Ok::<_, Infallible>(event), (follower, control)))
        });
    (headers, Body::from_stream(lines)).into_response()
}

struct Follower {
    before: std::vec::IntoIter<LogLine>,
    more: Receiver<LogLine>,
    upstream: Option<String>,
}

impl Follower {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let line = match self.before.next() {
                Some(line) => line,
                None => match timeout(KEEPALIVE_INTERVAL, self.more.recv()).await {
                    Ok(Ok(line)) => line,
                    Ok(Err(RecvError::Lagged(_))) => continue,
                    Ok(Err(RecvError::Closed)) => return None,
                    Err(_) => return Some(sse::KEEPALIVE),
                },
            };
            if log::is_of(&line, self.upstream.as_deref()) {
                return Some(sse::write(Some("line"), None, &serde_json::to_vec(&line).ok()?));
            }
        }
    }
}
