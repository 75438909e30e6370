//! The state as a stream: the state of now at once, then each new one.

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

use evermoor_core::name::UpstreamName;
use evermoor_core::sse;

use super::Control;
use crate::status::Overview;

const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// What somebody wants to follow.
#[derive(Deserialize)]
pub(super) struct Wanted {
    /// The upstream that they look at: it is looked at more often for so long.
    look: Option<String>,
}

pub(super) async fn follow(
    State(control): State<Arc<Control>>,
    Query(wanted): Query<Wanted>,
) -> Response {
    let looked = wanted.look.and_then(|name| UpstreamName::parse(&name).ok());
    let looked = looked.filter(|name| control.router.upstream(name.as_str()).is_some());
    let looker = looked.map(|name| control.apps.desk(&name).look());
    let mut overview = control.router.overview();
    overview.mark_changed();
    let states = futures_util::stream::unfold(
        (overview, control, looker),
        async |(mut overview, control, looker)| {
            let event = control.moved.run_until_cancelled(next(&mut overview)).await??;
            Some((Ok::<_, Infallible>(event), (overview, control, looker)))
        },
    );
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(states)).into_response()
}

async fn next(overview: &mut watch::Receiver<Overview>) -> Option<Bytes> {
    match timeout(SIGN_OF_LIFE, overview.changed()).await {
        Ok(Ok(())) => {
            let status = serde_json::to_vec(&overview.borrow_and_update().status).ok()?;
            Some(sse::write(Some("status"), None, &status))
        }
        Ok(Err(_)) => None,
        Err(_) => Some(sse::KEEPALIVE),
    }
}
