//! The outages of upstreams, looked up in the history.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::Deserialize;

use evermoor_core::incident::Incidents;

use super::{Control, refuse};
use crate::history::Asked;

#[derive(Deserialize)]
pub(super) struct Which {
    /// Only of this upstream, which may be one that is not configured any more.
    upstream: Option<String>,
    /// Only those that lasted at this moment or began later (milliseconds of the Unix epoch).
    since: Option<u64>,
}

pub(super) async fn list(
    State(control): State<Arc<Control>>,
    Query(which): Query<Which>,
) -> Response {
    let asked = Asked { upstream: which.upstream, since: which.since };
    match control.history.incidents(asked).await {
        Ok(incidents) => Json(Incidents { incidents }).into_response(),
        Err(failure) => refuse(StatusCode::SERVICE_UNAVAILABLE, failure),
    }
}
