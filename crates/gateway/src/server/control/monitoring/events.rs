//! The event stream: the current status, every change of it, and every call if requested.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use http::header;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::timeout;

use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::protocol::sse;

use crate::monitoring::activity::CallFollower;
use crate::monitoring::status::Overview;
use crate::server::control::ControlApi;

const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// What a client follows.
#[derive(Deserialize)]
pub(crate) struct EventsQuery {
    /// The upstream on screen: its app is observed more often while the stream is open.
    look: Option<String>,
    /// "1" to include calls.
    calls: Option<String>,
}

pub(crate) async fn follow(
    State(control): State<Arc<ControlApi>>,
    Query(query): Query<EventsQuery>,
) -> Response {
    let observed = query.look.and_then(|name| UpstreamName::parse(&name).ok());
    let observed = observed.filter(|name| control.router.upstream(name.as_str()).is_some());
    let observer = observed.map(|name| control.apps.app_state(&name).look());
    let mut overview = control.router.overview();
    overview.mark_changed();
    let calls = query.calls.filter(|calls| calls == "1").map(|_| control.activity.follow());
    let states = futures_util::stream::unfold(
        (overview, calls, control, observer),
        async |(mut overview, mut calls, control, observer)| {
            let next = next(&mut overview, calls.as_mut());
            let event = control.moved.run_until_cancelled(next).await??;
            Some((Ok::<_, Infallible>(event), (overview, calls, control, observer)))
        },
    );
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(states)).into_response()
}

async fn next(
    overview: &mut watch::Receiver<Overview>,
    calls: Option<&mut CallFollower>,
) -> Option<Bytes> {
    let called = async {
        match calls {
            Some(calls) => calls.next().await,
            None => std::future::pending().await,
        }
    };
    let something = async {
        tokio::select! {
            biased;
            changed = overview.changed() => {
                changed.ok()?;
                let status = serde_json::to_vec(&overview.borrow_and_update().status).ok()?;
                Some(sse::write(Some("status"), None, &status))
            }
            calls = called => {
                let each = |call| Some(sse::write(Some("call"), None, &serde_json::to_vec(call).ok()?));
                let events: Vec<Bytes> = calls?.iter().filter_map(each).collect();
                Some(events.concat().into())
            }
        }
    };
    match timeout(KEEPALIVE_INTERVAL, something).await {
        Ok(event) => event,
        Err(_) => Some(sse::KEEPALIVE),
    }
}
